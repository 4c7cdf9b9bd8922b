"""Documents as answers."""

import json
from typing import Any

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response


def answer(document: Any, status: int = 200) -> Response:
    """A document as JSON."""
    return Response(encode(document), status, media_type="application/json")


def encode(document: Any) -> bytes:
    """JSON without spaces; half characters, which cannot be written, are spelt out."""
    try:
        return to_json(document)
    except (PydanticSerializationError, UnicodeError):
        return json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
