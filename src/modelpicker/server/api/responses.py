"""Documents as JSON, and as answers."""

import json
from typing import Any

from pydantic import TypeAdapter
from starlette.responses import Response

_anything = TypeAdapter[Any](Any)


def json_response(document: Any, status: int = 200) -> Response:
    """A document as JSON."""
    return Response(to_json(document), status, media_type="application/json")


def to_json(document: Any) -> bytes:
    """JSON without spaces; half characters, which cannot be written, are spelt out."""
    try:
        return _anything.dump_json(document)
    except ValueError:
        return json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")


def from_json(text: bytes) -> Any:
    """What JSON stands for; a ValueError if it is none."""
    return _anything.validate_json(text)
