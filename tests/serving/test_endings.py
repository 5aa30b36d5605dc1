"""What becomes of requests whose client leaves, whose time is over, whose server stops or fails."""

import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from live import PLACE, STATE, Live, refused, serving
from test_worker import Held

from levt.engine.batching import Budget
from levt.engine.model import Model
from levt.serving.limits import Limits
from tiny_models import LINES


@pytest.fixture
def held() -> Any:
    """A server whose engine waits until it is told to go on."""
    engine = Held()
    limits = Limits(queue=3, seconds=30.0)
    with serving(Model(engine), limits, Budget(rows=1)) as running:
        yield running, engine
        engine.go.set()


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def send(live: Live, body: dict[str, Any]) -> socket.socket:
    """A request whose answer is left to wait for."""
    host, port = live.address.removeprefix("http://").rsplit(":", 1)
    content = json.dumps(body).encode()
    connection = socket.create_connection((host, int(port)), timeout=20)
    head = (
        "POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    connection.sendall(head.encode() + content)
    return connection


def rest(connection: socket.socket) -> bytes:
    found = b""
    with connection:
        while more := connection.recv(1 << 16):
            found += more
    return found


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_frees_its_place(held: tuple[Live, Held], stream: bool) -> None:
    live, engine = held
    scheduler = live.service.worker.scheduler
    engine.go.clear()
    first = send(live, {"text": LINES[0], "stream": stream})
    until(lambda: scheduler.running == 1)
    waiting = [send(live, {"text": LINES[1], "stream": stream}) for _ in range(3)]
    until(lambda: scheduler.waiting == 3)
    with live.client() as client:
        full = client.post("/v1/translate", json={"text": "a"})
        assert refused(full) == "queue_full"
        assert full.headers["Retry-After"]
        for gone in waiting:
            gone.close()
        until(lambda: scheduler.waiting == 0)
        first.close()
        until(lambda: scheduler.running == 0)
        engine.go.set()
        answer = client.post("/v1/translate", json={"text": LINES[0]}).json()
    assert answer["results"][0]["text"] == live.model.translate(LINES[0]).text
    assert live.service.metrics.registry.get_sample_value("levt_given_up_total", {"reason": "cancelled"}) == 4


def test_what_is_late_is_told_so(held: tuple[Live, Held]) -> None:
    """However long the engine takes: here it does not come back before all have been told."""
    live, engine = held
    engine.go.clear()
    with live.client() as client:
        for body in ({"text": LINES[0]}, {"texts": LINES[:2]}):
            late = client.post("/v1/translate", json=body | {"timeout": 0.05})
            assert refused(late) == "deadline_exceeded"
        streamed = client.post("/v1/translate", json={"text": LINES[0], "timeout": 0.05, "stream": True}).text
        assert '"type":"deadline_exceeded"' in streamed
        assert streamed.endswith("event: done\ndata: {}\n\n")
        step = {"text": LINES[0], "state": STATE, "timeout": 0.05}
        assert refused(client.post("/v1/step", json=step)) == "deadline_exceeded"
        place = PLACE | {"timeout": 0.05}
        assert refused(client.post("/v1/alternatives", json=place)) == "deadline_exceeded"
        engine.go.set()
        assert client.post("/v1/translate", json={"text": LINES[0]}).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_stops_finishes_what_it_has_begun(stream: bool) -> None:
    engine = Held()
    with serving(Model(engine), None, Budget(rows=1)) as live:
        expected = [live.model.translate(line).text for line in LINES[:3]]
        engine.go.clear()
        begun = [send(live, {"text": line, "stream": stream}) for line in LINES[:3]]
        until(lambda: live.service.worker.scheduler.waiting == 2)
        live.stop()
        threading.Timer(0.3, engine.go.set).start()
        for connection, text in zip(begun, expected, strict=True):
            answer = rest(connection)
            assert answer.startswith(b"HTTP/1.1 200")
            assert json.dumps(text, ensure_ascii=False).encode() in answer
    with pytest.raises(httpx.ConnectError), live.client() as client:
        client.get("/healthz")


def test_our_own_mistakes_tell_nothing(held: tuple[Live, Held], caplog: pytest.LogCaptureFixture) -> None:
    live, engine = held
    engine.poison = {tuple(engine.tokenizers.source.encode("poison"))}
    with caplog.at_level("CRITICAL"), live.client() as client:
        response = client.post("/v1/translate", json={"text": "poison"})
        assert refused(response) == "internal"
        assert "source" not in response.text
        streamed = client.post("/v1/translate", json={"text": "poison", "stream": True}).text
        assert '"type":"internal"' in streamed
        assert streamed.endswith("event: done\ndata: {}\n\n")
        assert refused(client.post("/v1/alternatives", json=PLACE | {"text": "poison"})) == "internal"
        assert client.post("/v1/translate", json={"text": "a"}).status_code == 200
