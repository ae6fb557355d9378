"""Structured logs: one JSON object a line on stderr, each with the request id of the call that it belongs to."""

from __future__ import annotations

import contextvars
import datetime as dt
import json
import logging
import sys
from typing import Any

REQUEST_ID: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="")
"""The id of the call that this code runs for; calls to other services carry it on."""

REQUEST_ID_KEY = "x-request-id"
"""The metadata that carries it."""

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """A record as JSON; what ``extra`` names becomes a key of its own."""

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        moment = dt.datetime.fromtimestamp(record.created, dt.UTC)
        entry: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "service": self._service,
            "message": record.getMessage(),
        }
        if request_id := REQUEST_ID.get():
            entry["request_id"] = request_id
        entry |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def configure_logs(service: str, level: str = "info") -> None:
    """Send everything that is logged in this process to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(service))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
