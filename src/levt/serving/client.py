"""A client: one request to a server, again where it fails. Needs nothing but Python; knows no text and no batch."""

import json
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

from levt.errors import ConfigError, InputError, LevtError, raise_all, reason

AGAIN = (408, 425, 429, 500, 502, 503, 504)
"""Answers after which it is worth trying again."""
LARGEST_WAIT = 10.0


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How a client deals with failures."""

    retries: int = 6
    """Further attempts after the first."""
    first_wait: float = 0.2
    """Seconds before the second attempt; doubled each time, up to ten seconds, and varied a little."""
    timeout: float = 120.0
    """Seconds until an answer is given up."""

    def __post_init__(self) -> None:
        problems = []
        if self.retries < 0:
            problems.append(f"retries must be at least 0, got {self.retries}")
        if not self.first_wait >= 0:  # not a number is neither above nor below
            problems.append(f"first_wait must be at least 0, got {self.first_wait}")
        if not self.timeout > 0:
            problems.append(f"timeout must be above 0, got {self.timeout}")
        raise_all(ConfigError, "client", problems, hint="leave them out for the defaults")


class Client:
    """Talks to one server, from several threads."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise ConfigError(
                f"a server is named http://HOST:PORT, got {url!r}",
                hint="`levt serve` tells its address, such as http://127.0.0.1:8000",
            )
        self.url, self._host, self._port, self._prefix = url, parts.hostname, port, parts.path.rstrip("/")
        self._secure, self._token = parts.scheme == "https", token
        self.patience, self._sleep = patience or Patience(), sleep
        # Taken out while in use, so that no two threads share one; appending and popping are atomic.
        self._idle: deque[HTTPConnection] = deque()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        while self._idle:
            self._idle.pop().close()

    def models(self) -> dict[str, Any]:
        """What the server tells of itself."""
        return self.ask("GET", "/v1/models")

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One answer, however many attempts it takes."""
        failure: LevtError | None = None
        for attempt in range(self.patience.retries + 1):
            if attempt:
                self._sleep(self._wait(attempt, failure))
            try:
                status, headers, content = self._once(method, path, body)
            except (OSError, HTTPException) as error:
                failure = LevtError(
                    f"{self.url} does not answer: {reason(error)}",
                    hint="is the server running? `levt serve` starts one",
                )
                continue
            if status == 200:
                return _read(content, self.url)
            failure = problem(status, content, self.url)
            failure.retry_after = headers.get("retry-after")  # type: ignore[attr-defined]
            if status not in AGAIN:
                break
        assert failure is not None
        raise failure

    def _wait(self, attempt: int, failure: LevtError | None) -> float:
        asked = getattr(failure, "retry_after", None)
        if asked is not None and asked.isdigit():
            return min(float(asked), LARGEST_WAIT)
        # Varied, so that many who failed together do not come back together.
        usual = self.patience.first_wait * 2.0 ** (attempt - 1) * random.uniform(0.8, 1.2)
        return min(usual, LARGEST_WAIT)

    def _once(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[int, dict[str, str], bytes]:
        headers = {"Accept": "application/json"}
        content = None
        if body is not None:
            content = json.dumps(body, ensure_ascii=False).encode()
            headers["Content-Type"] = "application/json"
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection = self._idle.pop()
        except IndexError:
            kind = HTTPSConnection if self._secure else HTTPConnection
            connection = kind(self._host, self._port, timeout=self.patience.timeout)
        try:
            connection.request(method, self._prefix + path, content, headers)
            response = connection.getresponse()
            found = response.read()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return response.status, {name.lower(): value for name, value in response.getheaders()}, found


def problem(status: int, content: bytes, url: str) -> LevtError:
    """The error of an answer: a text that cannot be used, or something else."""
    try:
        told = json.loads(content)["error"]
        kind, message, hint = str(told["type"]), str(told["message"]), told.get("hint")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return stranger(url, f"answers with status {status}")
    if kind in ("unusable_text", "too_many_tokens", "too_many_bytes", "too_many_terms", "too_many_texts"):
        return InputError(message, hint=hint)
    if kind in ("invalid_option", "invalid_request", "too_many_iterations", "unknown_model"):
        return ConfigError(message, hint=hint)
    if kind == "unauthorised":
        return ConfigError(f"{url} asks for a token: {message}", hint="--token-file FILE")
    return LevtError(f"{url}: {message} ({kind})", hint=hint)


def _read(content: bytes, url: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise stranger(url, "answers with something else than JSON") from None
    if not isinstance(found, dict):
        raise stranger(url, "answers with something else than an object")
    return found


def stranger(url: str, does: str) -> LevtError:
    """What to say of a server that does not speak as ours do."""
    return LevtError(f"{url} {does}", hint="is it a server of levt? `levt serve` starts one")
