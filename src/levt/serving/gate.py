"""What every request passes before anything looks at it: who asks, by which name, how much, and how fast.

Plain ASGI. Knows no model. Whatever goes wrong behind it, the client gets an error of our own form.
"""

import asyncio
import hmac
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from contextlib import suppress
from typing import Any

from levt.errors import ConfigError
from levt.serving.limits import Limits
from levt.serving.metrics import Metrics
from levt.serving.problems import Problem, of_error

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
log = logging.getLogger("levt.serving")

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
"""On every answer: pages of ours load nothing from elsewhere, and stand in no other page."""


ALLOWED = b"access-control-allow-origin"
DISCARDED = 16
"""Of a body that is too large, so many times the limit is read and thrown away before it is refused."""
DISCARD_SECONDS = 2.0
"""… for at most so long."""


class Gate:
    """Lets requests through to an application."""

    def __init__(
        self,
        app: App,
        limits: Limits,
        metrics: Metrics,
        *,
        paths: Collection[str],
        open_paths: Collection[str],
        token: str | None = None,
        hosts: Collection[str] | None = None,
        origins: Collection[str] = (),
    ) -> None:
        """Around an application.

        ``paths`` are those it has (others are counted together), ``open_paths`` those that need no ``token``;
        ``hosts`` are the names by which it may be asked, None for any; pages of ``origins`` may read why they
        were refused.
        """
        check_names(origins, hosts or ())
        self.app, self.limits, self.metrics = app, limits, metrics
        self.paths, self.open_paths = frozenset(paths), frozenset(open_paths)
        self.token = None if token is None else token.encode()
        self.origins = frozenset(origins)
        self.hosts = None if hosts is None else frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", []), *_raw(HEADERS)]
                message["headers"] = headers + self._readable(scope, headers)
            await send(message)

        try:
            self._check(scope)
            body = await self._body(scope, receive)
            if body is not None:
                await self.app(scope, body, noted)
        except Exception as error:
            problem = of_error(error)
            if problem.type == "internal":
                log.exception("a request failed")
            if not status:
                if problem.type == "too_many_bytes":
                    await self._discard(scope, receive)
                await respond(problem, noted)
        finally:
            path = scope["path"] if scope["path"] in self.paths else "other"
            # 499: the client had gone before there was an answer.
            self.metrics.answered(path, status or 499, time.perf_counter() - began)

    def _readable(self, scope: Message, headers: Headers) -> Headers:
        """What lets a page of another origin read an answer, where the application has not said so itself."""
        origin = next(
            (value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"), None
        )
        if origin is None or any(name.lower() == ALLOWED for name, _ in headers):
            return []
        if "*" in self.origins:
            return [(ALLOWED, b"*")]
        return [(ALLOWED, origin.encode("latin-1")), (b"vary", b"Origin")] if origin in self.origins else []

    def _check(self, scope: Message) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if self.hosts is not None and host_name(headers.get(b"host", "")) not in self.hosts:
            raise Problem(
                "unknown_host",
                "this server goes by another name",
                hint="add it: `levt serve --allow-host NAME`",
            )
        preflight = scope["method"] == "OPTIONS"
        if self.token is not None and not preflight and scope["path"] not in self.open_paths:
            scheme, _, given = headers.get(b"authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self.token):
                raise Problem(
                    "unauthorised", "the bearer token is missing or wrong", hint="Authorization: Bearer TOKEN"
                )
        if scope["method"] == "POST" and scope["path"] in self.paths:
            kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                # Any page in a browser may send other types here without asking; this one it may not.
                raise Problem(
                    "unsupported_media_type",
                    f"the body must be called application/json, got {kind or 'nothing'!r}",
                    hint="Content-Type: application/json",
                )
        length = headers.get(b"content-length", "0")
        self.limits.check_bytes(int(length) if re.fullmatch("[0-9]{1,15}", length) else self.limits.bytes + 1)

    async def _discard(self, scope: Message, receive: Receive) -> None:
        """Take in the rest of a body that is too large, up to a point: who is still sending reads no answer."""
        if any(name == b"expect" for name, _ in scope["headers"]):
            return  # it waits for our leave to send, and gets the answer instead
        left = DISCARDED * self.limits.bytes
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self.limits.body_seconds, DISCARD_SECONDS)):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return

    async def _body(self, scope: Message, receive: Receive) -> Receive | None:
        """The body, read at once and given again; None where the client has gone meanwhile."""
        if scope["method"] != "POST":
            return receive
        parts: list[bytes] = []
        size, more = 0, True
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    self.limits.check_bytes(size)
                    more = message.get("more_body", False)
        except TimeoutError:
            raise Problem(
                "too_slow", f"the body did not arrive within {self.limits.body_seconds:g} seconds"
            ) from None
        whole: Message | None = {"type": "http.request", "body": b"".join(parts), "more_body": False}

        async def again() -> Message:
            nonlocal whole
            if whole is not None:
                given, whole = whole, None
                return given
            return await receive()

        return again


ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^/?#@\sA-Z]+")


def check_names(origins: Collection[str], hosts: Collection[str]) -> None:
    """Refuse what no browser ever sends, and what would therefore let nobody in."""
    for origin in origins:
        if not ORIGIN.fullmatch(origin):
            raise ConfigError(
                f"an origin is SCHEME://NAME or SCHEME://NAME:PORT in small letters, got {origin!r}",
                hint="as https://translate.example.org, with nothing behind it; * for all",
            )
    for host in hosts:
        if not host or re.search(r"[/\s]", host) or re.fullmatch(r"[^:]*:[0-9]*|\[.*", host):
            raise ConfigError(
                f"a host is a name or an address without a port, got {host!r}",
                hint="as translate.example.org or ::1",
            )


def host_name(header: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("LocalHost:8000"), host_name("[::1]:80"), host_name("[::1]")
    ('localhost', '::1', '::1')
    """
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


async def respond(problem: Problem, send: Send) -> None:
    """Send an error."""
    body = json.dumps(problem.body(), ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **problem.headers()}
    # What is left of the body is not read: the connection cannot be used again.
    if problem.type in ("too_many_bytes", "too_slow"):
        headers["Connection"] = "close"
    await send({"type": "http.response.start", "status": problem.status, "headers": _raw(headers)})
    await send({"type": "http.response.body", "body": body})


def _raw(headers: dict[str, str]) -> Headers:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
