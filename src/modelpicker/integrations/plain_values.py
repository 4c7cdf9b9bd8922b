"""Values of documents that other programs wrote, taken for what they seem to be."""

import json
import math
from collections.abc import Mapping
from typing import Any

NONE: Mapping[str, Any] = {}


def mapping(value: Any) -> Mapping[str, Any]:
    """An object; empty if it is none."""
    return value if isinstance(value, Mapping) else NONE


def as_number(value: Any) -> float | None:
    """A number; a truth value is 1 or 0. None for anything else."""
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None


def as_text(value: Any) -> str | None:
    """A value as text; what is neither text nor number is written as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def texts(value: Any) -> tuple[str, ...]:
    """One text or several."""
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(text for one in values if (text := as_text(one)) is not None)


def message_text(content: Any) -> str | None:
    """The text of a message: a string, or parts of which some are text."""
    if not isinstance(content, list):
        return as_text(content)
    parts = [part if isinstance(part, str) else mapping(part).get("text") for part in content]
    return "\n".join(part for part in parts if isinstance(part, str)) or None


def prompt_text(prompt: Any) -> str | None:
    """What a model was asked: a text, or a list of messages, of which those that are not the model's are taken."""
    if not isinstance(prompt, list):
        return as_text(prompt)
    said = [
        message_text(mapping(message).get("content"))
        for message in prompt
        if mapping(message).get("role") != "assistant"
    ]
    return "\n\n".join(text for text in said if text) or None
