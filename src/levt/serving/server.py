"""Listening: the socket, the protocol's patience, and the end. Needs the extra ``serve``."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from levt.errors import ConfigError
from levt.serving.gate import Gate


def listen(host: str, port: int) -> socket.socket:
    """A socket on a free port; port 0 lets the system choose one."""
    if not 0 <= port <= 65535:
        raise ConfigError(f"port must be between 0 and 65535, got {port}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"host {host!r} is not an address of this machine: {error}") from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error}",
            hint="choose another port; --port 0 takes a free one",
        ) from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """A server that says when it has begun."""

    def __init__(self, config: uvicorn.Config, begun: Callable[[], None] = lambda: None) -> None:
        super().__init__(config)
        self._begun = begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin."""
        await super().startup(sockets)
        self._begun()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ctrl-C and SIGTERM end it in good order, and that is a good end: they are not raised again."""
        with super().capture_signals():
            yield
            self._captured_signals.clear()


def make_server(gate: Gate, *, begun: Callable[[], None] = lambda: None) -> Server:
    """A server for an application; it ends by a signal, or by ``should_exit``, when all is answered."""
    limits = gate.limits
    config = uvicorn.Config(
        gate,
        http=patient(limits.body_seconds),
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(limits.seconds) + 5,
        h11_max_incomplete_event_size=1 << 16,
    )
    return Server(config, begun)


def patient(seconds: float) -> type[H11Protocol]:
    """The protocol, but a connection on which no request has arrived in time is closed."""

    class Patient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._patience = self.loop.call_later(seconds, self._lose_patience)

        def connection_lost(self, exc: Exception | None) -> None:
            self._patience.cancel()
            super().connection_lost(exc)

        def _lose_patience(self) -> None:
            if self.cycle is None:
                self.transport.close()

    return Patient
