"""A service on loopback as a black box."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from levt.errors import ConfigError
from levt.recipes.black_boxes import NoAnswer, open_black_box

Answer = Callable[[list[str]], tuple[int, bytes]]


@pytest.fixture
def service() -> Iterator[dict[str, Any]]:
    state: dict[str, Any] = {"requests": 0}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state["requests"] += 1
            status, answer = state["answer"](body["lines"])
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state["url"] = f"http://127.0.0.1:{server.server_port}/translate"
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def lines(texts: list[str]) -> tuple[int, bytes]:
    return 200, json.dumps({"lines": texts}).encode()


def test_lines_in_requests_of_a_few_hundred(service: dict[str, Any]) -> None:
    service["answer"] = lambda texts: lines([text.upper() for text in texts])
    box = open_black_box(service["url"])
    assert box.translate([f"zeile {i} ü" for i in range(600)]) == [f"ZEILE {i} Ü" for i in range(600)]
    assert service["requests"] == 3
    assert box.translate([]) == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((503, b"busy"), "status 503: busy"),
        ((302, b""), "status 302"),
        ((200, b"<html>"), "not JSON: '<html>'"),
        ((200, b'{"lines": [1]}'), "must answer"),
        ((200, b'{"lines": []}'), "answered 0 lines for 1"),
        ((200, b'{"lines": ["half a character: \\ud83d"]}'), "must answer"),
        ((200, b"[" * 100_000), "not JSON"),
    ],
)
def test_bad_answers(service: dict[str, Any], answer: tuple[int, bytes], said: str) -> None:
    service["answer"] = lambda texts: answer
    with pytest.raises(NoAnswer, match=said):
        open_black_box(service["url"]).translate(["one"])


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://127.0.0.1:9/ü", "http://a..de/", f"http://{'a' * 70}/"]
)
def test_bad_addresses(url: str) -> None:
    with pytest.raises(ConfigError, match="the address of a service"):
        open_black_box(url)


def test_nobody_there() -> None:
    with pytest.raises(NoAnswer, match="cannot be reached"):
        open_black_box("http://127.0.0.1:9/").translate(["one"])
