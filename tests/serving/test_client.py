"""``levt translate --server``: the same lines as without, whatever the network does."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from live import Live, serving

from levt.errors import ConfigError, InputError, LevtError
from levt.serving.batches import Batches, Item
from levt.serving.client import Client, Patience
from levt.serving.limits import Limits
from tiny_models import LINES, save_tiny, tiny
from typed_commands import Shell

TEXTS = [*LINES, "", "  ", "Two\u2028cats\x85sleep.", *(f"Dog {i}." for i in range(14))]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Shell:
    return Shell(monkeypatch, capfdbinary, "translate")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("models") / "tiny", seed=3))


def test_the_same_lines_as_without(shell: Shell, folder: str, live: Live, tmp_path: Path) -> None:
    stdin = "\n".join(TEXTS) + "\n"
    here = shell(stdin, "--model", folder, "--device", "cpu")
    for size in ("1", "7", "64"):
        assert shell(stdin, "--server", live.address, "--batch-size", size) == here
    several = "A dog runs.  Two cats sleep.\tIs it cold?\nOne."
    by_sentence, whole = (
        [shell(several, *where, *more) for where in (("--model", folder), ("--server", live.address))]
        for more in ((), ("--whole",))
    )
    assert by_sentence[0] == by_sentence[1] != whole[0] == whole[1]
    terms = tmp_path / "terms"
    terms.write_text("\n".join("Stein; Hund" if i % 3 == 0 else "" for i in range(len(TEXTS))) + "\n")
    flags = ("--terms", str(terms), "--ordered", "--keep", "Dog", "--drop", "Schnee", "--max-iterations", "3")
    assert shell(stdin, "--server", live.address, *flags) == shell(stdin, "--model", folder, *flags)


def test_json_is_the_same(shell: Shell, folder: str, live: Live) -> None:
    stdin = "\n".join(TEXTS[:6]) + "\n"
    here = shell(stdin, "--model", folder, "--json", "--device", "cpu")[0].splitlines()
    there = shell(stdin, "--server", live.address, "--json")[0].splitlines()
    for one, other in zip(map(json.loads, here), map(json.loads, there), strict=True):
        assert one.keys() == other.keys()
        assert one.pop("score") == pytest.approx(other.pop("score"), abs=1e-4)
        for iteration in (*one["trace"]["iterations"], *other["trace"]["iterations"]):
            for name in ("drop_probs", "counts_probs", "fill_probs"):
                iteration.pop(name, None)
        assert one == other


def test_lines_before_a_bad_one_are_answered(shell: Shell, live: Live) -> None:
    out, err = shell(b"A dog.\nTwo cats.\n" + b"x" * 40_000 + b"\nmore\n", "--server", live.address, status=2)
    assert out.count(b"\n") == 2
    assert err.startswith("error: line 3: ")
    out, err = shell("A dog.\nTwo cats.\n" + "ä" * 999, "--server", live.address, status=2)
    assert out.count(b"\n") == 2
    assert err.startswith("error: line 3: a word of 999 characters")
    out, err = shell(b"A dog.\n\xff\n", "--server", live.address, status=2)
    assert out.count(b"\n") == 1
    assert "line 2: it is not UTF-8" in err


def test_what_is_for_the_server_to_decide(shell: Shell, live: Live) -> None:
    assert "--beam is not for a server" in shell("a\n", "--server", live.address, "--beam", "3", status=2)[1]
    assert (
        "--skip-broken is not for a server"
        in shell("a\n", "--server", live.address, "--skip-broken", status=2)[1]
    )
    assert "--token-file is for a server" in shell("a\n", "--token-file", "token", status=2)[1]
    for other in ("other", "levt-en-de"):  # the default of others is none of a server
        assert (
            f"there is no model '{other}' here"
            in shell("a\n", "--server", live.address, "--model", other, status=2)[1]
        )
    assert "http://HOST:PORT" in shell("a\n", "--server", "ftp://here", status=2)[1]
    found = shell("a\n", "--server", live.address, "--max-iterations", "99", status=2)[1]
    assert "max_iterations must be at most 50" in found


def test_a_token_is_brought_along(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("secret\n")
    with serving(token="secret") as live:
        assert "--token-file" in shell("a\n", "--server", live.address, status=2)[1]
        assert shell("a\n", "--server", live.address, "--token-file", str(file))[0].count(b"\n") == 1
        assert (
            "cannot be read"
            in shell("a\n", "--server", live.address, "--token-file", "/nothing", status=2)[1]
        )


STRANGERS: dict[str, Any] = {
    "too few": {"results": [{"text": "A"}]},
    "no results": {"choices": []},
    "no text": {"results": [{"content": "A"}, {"content": "B"}]},
    "a list": ["A", "B"],
    "a list without end": b"[" * 100_000,
}
"""Answers that only another kind of server gives."""


class Moody(ThreadingHTTPServer):
    """Answers with the source in capitals, but fails in a way of its own before each answer."""

    daemon_threads = True

    def __init__(self, moods: list[str]) -> None:
        self.moods, self.lock, self.asked = moods, threading.Lock(), 0
        self.told: Any = {"limits": {"texts": 4, "bytes": 10_000}}
        super().__init__(("127.0.0.1", 0), Answering)


class Answering(BaseHTTPRequestHandler):
    server: Moody
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.send(200, self.server.told)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked += 1
            mood = self.server.moods.pop(0) if self.server.moods else "well"
        if mood == "hang up":
            self.connection.close()
            self.close_connection = True
        elif mood == "busy":
            self.send(503, {"error": {"type": "queue_full", "message": "busy", "hint": None}}, "0")
        elif mood == "strange":
            self.send(200, None)
        elif mood in STRANGERS:
            self.send(200, STRANGERS[mood])
        elif mood == "broken":
            self.send(500, None)
        else:
            self.send(200, {"results": [{"text": text.upper()} for text in body["texts"]]})

    def send(self, status: int, body: Any, after: str | None = None) -> None:
        content = (
            b"<html>" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        )
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if after is not None:
            self.send_header("Retry-After", after)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def moody(*moods: str, retries: int = 3) -> Iterator[tuple[Client, Moody, list[float]]]:
    server = Moody(list(moods))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    waits: list[float] = []
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        with Client(url, patience=Patience(retries=retries), sleep=waits.append) as client:
            yield client, server, waits
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def test_failures_are_tried_again() -> None:
    items = [Item(text=f"text {i}") for i in range(30)]
    # All of them may fall to the same request.
    with moody("busy", "hang up", "broken", "busy", "hang up", retries=5) as (client, server, waits):
        results = list(Batches(client, {}, size=64, at_once=2).translate(items))
        assert [result.text for result in results] == [item.text.upper() for item in items]
        assert server.asked == 8 + 5
        assert len(waits) == 5
        assert all(0 <= wait <= 10 for wait in waits)


def test_but_not_for_ever() -> None:
    with moody(*["busy"] * 9) as (client, server, waits):
        with pytest.raises(LevtError, match="queue_full"):
            list(Batches(client, {}, size=1).translate([Item(text="a")]))
        assert (server.asked, waits) == (4, [0.0, 0.0, 0.0])
    with moody("strange") as (client, _, _waits), pytest.raises(LevtError, match="something else than JSON"):
        list(Batches(client, {}, size=1).translate([Item(text="a")]))
    gone = Client(client.url, patience=Patience(retries=1, first_wait=0.0))
    with pytest.raises(LevtError, match="does not answer"):
        gone.models()


@pytest.mark.parametrize("mood", list(STRANGERS))
def test_an_answer_of_another_kind_of_server_is_no_result(mood: str) -> None:
    """Least of all one with a text too few: every line after it would belong to another."""
    with moody(mood) as (client, _, _waits), pytest.raises(LevtError, match="is it a server of levt"):
        list(Batches(client, {}, size=4).translate([Item(text="a"), Item(text="b")]))


@pytest.mark.parametrize(
    "told", [{"object": "list", "data": []}, {"limits": 3}, [1], {"limits": {"texts": "x"}}]
)
def test_another_kind_of_server_is_seen_at_once(told: Any) -> None:
    with moody() as (client, server, _waits):
        server.told = told
        with pytest.raises(LevtError, match="is it a server of levt"):
            Batches(client, {}, size=4)


def test_results_before_a_failure_come_first() -> None:
    with moody("well", *["busy"] * 9) as (client, _, _waits):
        results = Batches(client, {}, size=1, at_once=1).translate([Item(text="a"), Item(text="b")])
        assert next(results).text == "A"
        with pytest.raises(LevtError):
            next(results)


def test_a_batch_is_taken_apart_for_the_text_to_blame() -> None:
    with serving(tiny(seed=3), Limits(tokens=30)) as live, Client(live.address) as client:
        items = [Item(text="A dog."), Item(text="A cat."), Item(text="dog " * 40), Item(text="no")]
        results = Batches(client, {}, size=64).translate(items)
        for expected in live.model.translate(["A dog.", "A cat."]):
            assert next(results).text == expected.text
        with pytest.raises(InputError, match="at most 30"):
            next(results)


@pytest.mark.parametrize("url", ["", "http://", "ftp://a", "http://a:b", "http://a:99999"])
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises(ConfigError, match="http://HOST:PORT"):
        Client(url)


@pytest.mark.parametrize("wrong", [{"retries": -1}, {"first_wait": -1.0}, {"timeout": 0.0}])
def test_patience_has_limits(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Patience(**wrong)
