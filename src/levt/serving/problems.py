"""Every error that an answer may hold: a type for programs, a status, a message and a hint. Knows no framework."""

from typing import Any

from levt.errors import ConfigError, InputError, LevtError

LATE = "ask for less at a time, or give it longer: timeout, and `levt serve --seconds`"
"""What to do where an answer was not ready in time."""
STATUS = {
    "invalid_http": 400,
    "invalid_json": 400,
    "unauthorised": 401,
    "not_found": 404,
    "unknown_model": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "too_many_bytes": 413,
    "too_many_texts": 413,
    "too_many_tokens": 413,
    "unsupported_media_type": 415,
    "unknown_host": 421,
    "invalid_request": 422,
    "unusable_text": 422,
    "invalid_option": 422,
    "too_many_iterations": 422,
    "too_many_terms": 422,
    "too_many_alternatives": 422,
    "internal": 500,
    "queue_full": 503,
    "shutting_down": 503,
    "not_ready": 503,
    "deadline_exceeded": 504,
}
"""The status of each type."""


class Problem(Exception):
    """An error that is answered to the client.

    >>> Problem("too_many_texts", "5 texts, at most 4").body()
    {'error': {'type': 'too_many_texts', 'message': '5 texts, at most 4', 'hint': None}}
    """

    def __init__(self, type: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.type, self.message, self.hint = type, message, hint
        self.status = STATUS[type]

    def body(self) -> dict[str, Any]:
        """As JSON; whatever a message quotes, it can be written in UTF-8."""
        return {
            "error": {
                "type": self.type,
                "message": _writable(self.message),
                "hint": None if self.hint is None else _writable(self.hint),
            }
        }

    def headers(self) -> dict[str, str]:
        """What else the client should know."""
        found = {}
        if self.type == "unauthorised":
            found["WWW-Authenticate"] = 'Bearer realm="levt"'
        if self.status == 503:
            found["Retry-After"] = "1"
        return found


def of_error(error: BaseException) -> Problem:
    """What the client is told about an exception: nothing where it is our own fault."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, InputError):
        return Problem("unusable_text", error.message, hint=error.hint)
    if isinstance(error, ConfigError):
        return Problem("invalid_option", error.message, hint=error.hint)
    if isinstance(error, LevtError):
        return Problem("internal", "the model cannot be used", hint="the server's log says why")
    return Problem("internal", "something went wrong here", hint="the server's log says what")


def _writable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
