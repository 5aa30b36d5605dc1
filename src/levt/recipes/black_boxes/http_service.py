"""A black box that is an HTTP service: POST {"lines": […]}, answered by {"lines": […]}. Knows nothing behind it.

Nothing is sent anywhere but to the address that the user gave: redirections are not followed, and a
service on this machine is asked without any proxy.
"""

import http.client
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from typing import Any

from levt.errors import ConfigError, reason
from levt.recipes.black_boxes import NoAnswer, answered

MOST = 256
"""Lines of one request."""
SHOWN = 400
"""Characters of an answer that an error repeats."""
FORM = 'it is asked by POST {"lines": [texts]} and answers {"lines": [texts]}, one for each'

HALVES = re.compile("[\ud800-\udfff]")


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the text goes where the user sent it, or nowhere."""

    def redirect_request(self, *args: Any, **more: Any) -> None:
        return None


class HttpService:
    """Asks a service, some lines at a time; each request must be answered within ``timeout`` seconds."""

    def __init__(self, url: str, *, timeout: float = 600.0) -> None:
        try:
            parts = urllib.parse.urlsplit(url)
            host = (parts.hostname or "").encode("idna").decode()
            f"{parts.path}{parts.query}".encode("ascii")
        except ValueError:
            host = ""
        if not host or parts.scheme not in ("http", "https"):
            raise ConfigError(
                f"the address of a service must be http://HOST… or https://HOST…, got {url!r}",
                hint="for example http://127.0.0.1:8080/translate; letters beyond ASCII are written as %C3%BC",
            )
        self.url, self.timeout = url, timeout
        near = host == "localhost" or host == "::1" or host.startswith("127.")
        proxy = urllib.request.ProxyHandler({} if near else None)
        self._opener = urllib.request.build_opener(_Stay, proxy)

    def translate(self, lines: Sequence[str]) -> list[str]:
        """What the service answered."""
        found: list[str] = []
        for start in range(0, len(lines), MOST):
            found += self._ask(list(lines[start : start + MOST]))
        return found

    def _ask(self, lines: list[str]) -> list[str]:
        request = urllib.request.Request(
            self.url,
            data=json.dumps({"lines": lines}).encode(),
            headers={"Content-Type": "application/json", "Accept": "application/json"},
            method="POST",
        )
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                body = response.read()
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(SHOWN).decode("utf-8", "replace").strip()
            raise NoAnswer(
                f"{self.url} answered with status {error.code}" + (f": {said}" if said else ""), hint=FORM
            ) from None
        except TimeoutError:
            raise NoAnswer(
                f"{self.url} did not answer in {self.timeout:g} seconds",
                hint="give it more time, or fewer lines at once",
            ) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            cause = getattr(error, "reason", error)
            why = reason(cause) if isinstance(cause, BaseException) else cause
            raise NoAnswer(f"{self.url} cannot be reached: {why}", hint="is the service running?") from None
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            raise NoAnswer(f"{self.url} answered what is not JSON: {_shown(body)}", hint=FORM) from None
        texts = value.get("lines") if isinstance(value, dict) else None
        if not isinstance(texts, list) or not all(map(_is_text, texts)):
            raise NoAnswer(f'{self.url} must answer {{"lines": [texts]}}, got {_shown(body)}', hint=FORM)
        return answered(self.url, lines, texts)


def _is_text(value: object) -> bool:
    """Whether a JSON value is a text; one with half a character (``\\ud83d``) could never be written."""
    return isinstance(value, str) and not HALVES.search(value)


def _shown(body: bytes) -> str:
    return repr(body[:SHOWN].decode("utf-8", "replace"))
