"""Listening: the socket, and the end in good order. Needs the extra ``serve``."""

import asyncio
import errno
import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from levt.errors import ConfigError, reason
from levt.serving.connection import Connection, limited
from levt.serving.gate import Gate

HOST = "127.0.0.1 is for this machine alone, 0.0.0.0 for all that can reach it"


def listen(host: str, port: int) -> socket.socket:
    """A socket on a free port; port 0 lets the system choose one."""
    if not 0 <= port <= 65535:
        raise ConfigError(
            f"port must be between 0 and 65535, got {port}", hint="8000 is the default, 0 takes a free one"
        )
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ConfigError(
            f"host {host!r} is not an address of this machine: {reason(error)}", hint=HOST
        ) from None
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Small, so that it is soon seen whether a client takes what it is sent; and one who does not costs little.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 17)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"cannot listen on {host} port {port}: {reason(error)}",
            hint="--host must be an address of this machine: 127.0.0.1, or 0.0.0.0 for all"
            if error.errno == errno.EADDRNOTAVAIL
            else "choose another port; --port 0 takes a free one",
        ) from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def own_names(listening: socket.socket) -> tuple[tuple[str, ...], bool]:
    """The address by which a socket is reached, and whether only this machine can do so, however it was spelt."""
    bound = ipaddress.ip_address(listening.getsockname()[0])
    return (() if bound.is_unspecified else (str(bound),)), bound.is_loopback


class Server(uvicorn.Server):
    """A server that says when it has begun."""

    def __init__(self, config: uvicorn.Config, begun: Callable[[], None] = lambda: None) -> None:
        super().__init__(config)
        self._begun = begun

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin."""
        await super().startup(sockets)
        self._begun()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: finish what has arrived, see off all others, and leave no connection open."""
        last = asyncio.create_task(self._see_off())
        try:
            await super().shutdown(sockets)
        finally:
            last.cancel()
            for connection in self._connections():
                connection.transport.abort()
            # A connection that is cut off is closed one turn of the loop later.
            await asyncio.sleep(0)

    async def _see_off(self) -> None:
        """Tell those too who were let in at the last moment, or who ask again."""
        while True:
            await asyncio.sleep(0.05)
            for connection in self._connections():
                connection.shutdown()

    def _connections(self) -> list[Connection]:
        return [one for one in self.server_state.connections if isinstance(one, Connection)]

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
        http=limited(limits),
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
