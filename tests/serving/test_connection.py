"""Clients that take their time, for ever if they may: the server lets go of them, says nothing, and can end."""

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import uvicorn
from live import Live, serving
from uvicorn.server import ServerState

from levt.serving import schema
from levt.serving.connection import limited
from levt.serving.limits import Limits
from levt.serving.server import Server, listen
from tiny_models import LINES

SOON = Limits(body_seconds=0.3, stall_seconds=0.3)
LONG = Limits(body_seconds=600.0, stall_seconds=600.0)
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"
PART = b"x" * (1 << 18)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Two megabytes to a GET, as one part or many; a POST is refused unread."""
    if scope["method"] == "POST":
        await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/at-once":
        await send({"type": "http.response.body", "body": PART * 8})
        return
    for _ in range(8):
        await send({"type": "http.response.body", "body": PART, "more_body": True})
    await send({"type": "http.response.body"})


class Running:
    """A server of nothing but connections."""

    def __init__(self, server: Server, port: int, stop: Callable[[], float]) -> None:
        self.server, self.port, self.stop = server, port, stop

    def connect(self, room: int = 1 << 12) -> socket.socket:
        """A client with room for so many bytes that it has not read."""
        made = socket.socket()
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
            made.settimeout(30)
            made.connect(("127.0.0.1", self.port))
        except BaseException:
            made.close()
            raise
        return made

    @property
    def connections(self) -> int:
        return len(self.server.server_state.connections)


@contextmanager
def running(limits: Limits) -> Iterator[Running]:
    begun = threading.Event()
    with listen("127.0.0.1", 0) as place:
        config = uvicorn.Config(
            app,
            http=limited(limits),
            lifespan="off",
            log_config=None,
            log_level="warning",
            timeout_keep_alive=1,
        )
        server = Server(config, begun.set)
        thread = threading.Thread(target=lambda: server.run(sockets=[place]))
        thread.start()

        def stop() -> float:
            began = time.monotonic()
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive()
            return time.monotonic() - began

        try:
            assert begun.wait(30)
            yield Running(server, place.getsockname()[1], stop)
        finally:
            stop()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def read(connection: socket.socket) -> bytes:
    found = bytearray()
    with suppress(ConnectionError):
        while more := connection.recv(1 << 16):
            found += more
    return bytes(found)


@pytest.fixture(autouse=True)
def silence(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing a client does is worth a line, but for what is no HTTP."""
    yield
    lines = [record.getMessage() for record in caplog.get_records("call")]
    assert [line for line in lines if "Invalid HTTP request" not in line] == []


WAYS = {
    "nothing": (),
    "half a request": (GET[:9],),
    "half a second request": (POST + b"body" + GET[:9],),
    "the body of a refused request": (POST, b"b"),
    "an answer in parts that is not read": (GET,),
    "an answer that is not read": (GET.replace(b"/ ", b"/at-once "),),
}


@pytest.mark.parametrize("way", WAYS)
def test_those_who_put_it_off_are_left(way: str) -> None:
    with running(SOON) as server, server.connect() as slow:
        for part in WAYS[way]:
            slow.sendall(part)
            time.sleep(0.05)
        until(
            lambda: server.server.server_state.connections == set() and not server.server.server_state.tasks
        )
        assert len(read(slow)) < 2 << 20


@pytest.mark.parametrize("way", WAYS)
def test_those_who_put_it_off_do_not_hold_up_the_end(way: str) -> None:
    with running(LONG) as server, server.connect() as slow:
        for part in WAYS[way]:
            slow.sendall(part)
        until(lambda: server.connections == 1)
        time.sleep(0.1)
        assert server.stop() < 30
        assert server.connections == 0


class Transport:
    """What asyncio keeps for a client that reads as it is told to."""

    def __init__(self) -> None:
        self.unsent, self.aborted = 0, False

    def get_extra_info(self, _: str) -> None:
        return None

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None:
        self.aborted = True


class Loop:
    """A loop in which time does not pass."""

    def call_later(self, *_: Any) -> Any:
        return self

    def cancel(self) -> None:
        pass


@pytest.mark.parametrize(
    ("sizes", "left"),
    [
        ([900, 899, 898, 1], False),
        ([900, 0, 0, 900, 0], False),
        ([900, 900], True),
        ([900, 500, 0, 900, 901], True),
        ([0, 0, 0], False),
        ([900, None, 900, None, 900], False),
        ([900, None, 900, 900], True),
    ],
)
def test_slow_readers_are_waited_for_while_they_read(sizes: list[int | None], left: bool) -> None:
    config = uvicorn.Config(app, lifespan="off")
    connection = limited(LONG)(config=config, server_state=ServerState(), app_state={}, _loop=Loop())  # type: ignore[arg-type]
    transport = Transport()
    connection.connection_made(transport)
    connection.pause_writing()
    for size in sizes:
        assert not transport.aborted
        if size is None:  # all was taken, and as much is there again
            connection.resume_writing()
            connection.pause_writing()
        else:
            transport.unsent = size
            connection._look_whether_stalled()
    assert transport.aborted == left


def test_an_answer_is_finished_before_the_end() -> None:
    with running(LONG) as server, server.connect(1 << 18) as client:
        client.sendall(GET)
        begun = client.recv(1 << 16)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert len(begun) + len(read(client)) > 2 << 20
        stopping.join()


def test_those_who_come_at_the_last_moment_do_not_hold_up_the_end() -> None:
    with running(LONG) as server:
        made: list[socket.socket] = []

        def come() -> None:
            with suppress(OSError):
                for _ in range(100):
                    made.append(server.connect())
                    time.sleep(0.001)

        clients = [threading.Thread(target=come) for _ in range(4)]
        for client in clients:
            client.start()
        until(lambda: server.connections > 8)
        assert server.stop() < 30
        for client in clients:
            client.join()
        for one in made:
            one.close()


def ask(live: Live, body: dict[str, Any], after: bytes = b"") -> socket.socket:
    host, port = live.address.removeprefix("http://").rsplit(":", 1)
    content = json.dumps(body).encode()
    made = socket.create_connection((host, int(port)), timeout=30)
    made.sendall(
        b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
        b"Content-Length: %d\r\n\r\n" % len(content) + content + after
    )
    return made


def test_many_who_hang_up_on_a_stream(live: Live) -> None:
    """Many events wait for a client that has gone: each would be written, and the loss of each be noted."""
    for number in range(12):
        gone = ask(live, {"texts": LINES, "stream": True})
        if number % 2:
            gone.recv(1)
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        gone.close()
    until(lambda: live.service.worker.scheduler.running == 0 == live.service.worker.scheduler.waiting)


@pytest.mark.parametrize("stream", [True, False])
def test_noise_after_a_request(live: Live, stream: bool) -> None:
    with ask(live, {"texts": LINES, "stream": stream}) as client:
        if stream:
            client.recv(1)
        client.sendall(b"and more\r\n\r\n")
        answer = read(client)
    if not stream and answer:
        assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 200"))
        assert answer.count(b"HTTP/1.1") == 1
    until(lambda: live.service.worker.scheduler.running == 0)


def test_what_is_no_http_is_answered_in_our_form(live: Live) -> None:
    host, port = live.address.removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(b"HELO there\r\n\r\n")
        head, _, body = read(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"nosniff" in head
    assert schema.ErrorBody.model_validate_json(body).error.type == "invalid_http"


def test_another_protocol_is_not_offered(live: Live) -> None:
    with live.client() as client:
        response = client.get("/healthz", headers={"Connection": "upgrade", "Upgrade": "websocket"})
    assert response.status_code == 200


def test_a_stream_that_nobody_begins_to_read_frees_its_places() -> None:
    with serving() as live:
        body = schema.TranslateRequest(texts=LINES)

        async def give_up() -> None:
            stream = await live.service.stream(body)
            stream.close()

        asyncio.run(give_up(), debug=False)
        until(lambda: live.service.worker.scheduler.running == 0 == live.service.worker.scheduler.waiting)
        given_up = live.service.metrics.registry.get_sample_value(
            "levt_given_up_total", {"reason": "cancelled"}
        )
        finished = live.service.metrics.registry.get_sample_value("levt_tokens_total")
        assert given_up == len(LINES) or finished
