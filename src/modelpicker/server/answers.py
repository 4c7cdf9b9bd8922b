"""Documents as answers."""

import json
from typing import Any

from starlette.responses import Response


def answer(document: Any, status: int = 200) -> Response:
    """A document as JSON; half characters, which cannot be written, are spelt out."""
    return Response(encode(document), status, media_type="application/json")


def encode(document: Any) -> bytes:
    """JSON without spaces."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
