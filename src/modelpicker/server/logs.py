"""Structured logs: a JSON object a line, so that nothing a client sends can look like another line."""

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
        facts = " ".join(f"{name}={value}" for name, value in getattr(record, "facts", {}).items())
        when = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        line = f"{when} {record.levelname.lower():<7} {record.getMessage()} {facts}".rstrip()
        shown = (
            line.encode("unicode_escape").decode("ascii").replace("\\\\", "\\") if not line.isprintable() else line
        )
        if record.exc_info:
            shown += "\n" + "".join(traceback.format_exception(*record.exc_info))
        return shown


def set_up(form: str) -> None:
    """Send what the server and uvicorn have to say to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else Plain())
    for name, level in (("modelpicker.server", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False


def note(level: int, event: str, **facts: Any) -> None:
    """Log an event with its facts."""
    log.log(level, event, extra={"facts": facts})
