"""Compressed answers: who understands them, and which are worth it."""

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp

# Answers that are shorter, in bytes, fit into one packet anyway.
SHORT = 1_000
LEVEL = 5
# What is compressed already, live events, which compress themselves, and exports, which say how long they are.
LEFT_ALONE = ("application/vnd.apache.parquet", "application/x-ndjson", "image/*", "text/event-stream")


def accepts_gzip(request: Request) -> bool:
    """Whether the client understands gzip."""
    for entry in request.headers.get("accept-encoding", "").lower().split(","):
        coding, _, quality = entry.partition(";")
        if coding.strip() in ("gzip", "*"):
            return quality.replace(" ", "").rstrip("0.") != "q="
    return False


def compressing(app: ASGIApp) -> GZipMiddleware:
    """The application, with long answers compressed where the client understands that."""
    return GZipMiddleware(app, SHORT, LEVEL, exclude_content_types=LEFT_ALONE)
