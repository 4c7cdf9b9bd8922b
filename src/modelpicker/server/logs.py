"""Structured logs: one JSON object per line, so that nothing a client sends can look like another line."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

log = logging.getLogger("modelpicker.server")


class JsonLines(logging.Formatter):
    """One JSON object for each record."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, what happened, and the facts that came with it."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            entry["trace"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(entry, default=str)


class Plain(logging.Formatter):
    """A line that people read; control characters are spelt out."""

    def format(self, record: logging.LogRecord) -> str:
        """The same facts, for a terminal."""
        facts = "".join(f" {name}={_shown(value)}" for name, value in getattr(record, "facts", {}).items())
        when = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        lines = [f"{when} {record.levelname.lower():<7} {_printable(record.getMessage().rstrip())}{facts}"]
        if record.exc_info:
            trace = "".join(traceback.format_exception(*record.exc_info))
            lines += [f"  | {_printable(line)}" for line in trace.splitlines()]
        return "\n".join(lines)


def _shown(value: object) -> str:
    """A fact; in quotation marks where it could be taken for several, or for none."""
    text = str(value)
    plain = text.isprintable() and not set(text) & set(" =\"'\\")
    return text if plain and text else _printable(json.dumps(text, ensure_ascii=False))


def _printable(text: str) -> str:
    """A text without anything that would move a terminal."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def set_up(form: str) -> None:
    """Send what the server and uvicorn have to say, and what is compiled, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else Plain())
    levels = {
        "modelpicker.server": logging.INFO,
        "modelpicker.campaigns": logging.WARNING,
        "modelpicker.compiling": logging.INFO,
        "uvicorn": logging.WARNING,
    }
    for name, level in levels.items():
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def log_event(level: int, event: str, **facts: Any) -> None:
    """Log an event with its facts."""
    log.log(level, event, extra={"facts": facts})
