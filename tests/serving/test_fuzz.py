"""Malformed, huge, slow and disconnecting requests, and whatever the OpenAPI document allows and forbids.

Bounded in count and time, on loopback only. After each the server is alive and answers as before.
"""

import json
import random
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from live import serving, spawned
from schemathesis.checks import CHECKS

from levt.serving import schema
from levt.serving.limits import Limits
from levt.serving.problems import STATUS
from tiny_models import LINES, save_tiny

POSTS = ("/v1/translate", "/v1/refine", "/v1/step", "/v1/alternatives", "/v1/tokenize")
PROBES: list[tuple[str, dict[str, Any]]] = [
    ("/v1/translate", {"texts": LINES[:5]}),
    ("/v1/refine", {"text": LINES[0], "draft": "Ein Hund läuft.", "keep": ["Hund"], "trace": True}),
    ("/v1/step", {"text": LINES[0], "state": {"tokens": [300, 301, 302]}}),
    ("/v1/alternatives", {"text": LINES[0], "tokens": [300, 301], "start": 0, "end": 1}),
]


def asking(address: str) -> httpx.Client:
    return httpx.Client(base_url=address, timeout=60, trust_env=False, verify=False)


def answers(address: str) -> list[Any]:
    with asking(address) as client:
        found = [client.post(path, json=body) for path, body in PROBES]
    assert [response.status_code for response in found] == [200] * len(PROBES)
    return [response.json() for response in found]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server, in a process of its own, that must answer alike before and after."""
    folder = save_tiny(tmp_path_factory.mktemp("models") / "tiny", seed=3)
    with spawned(str(folder), "--max-bytes", "20000") as address:
        before = answers(address)
        yield address
        with asking(address) as client:
            end = time.monotonic() + 20
            while not {"levt_waiting 0.0", "levt_running 0.0"} <= set(
                client.get("/metrics").text.splitlines()
            ):
                assert time.monotonic() < end, "somebody never left"
                time.sleep(0.05)
            assert client.get("/readyz").status_code == 200
        assert answers(address) == before


def documented(response: httpx.Response) -> None:
    if response.status_code != 200:
        found = response.json()
        schema.ErrorBody.model_validate(found)
        assert response.status_code == STATUS[found["error"]["type"]]
        assert found["error"]["type"] != "internal"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from(LINES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
fields = sorted(
    {name for form in (schema.RefineRequest, schema.StepRequest, schema.AlternativesRequest, schema.State,
                       schema.Options, schema.TokenizeRequest) for name in form.model_fields}
)  # fmt: skip


@settings(max_examples=120, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(POSTS),
    st.dictionaries(st.sampled_from(fields), json_values, max_size=6),
    st.booleans(),
)
def test_any_json(target: str, path: str, body: dict[str, Any], nested: bool) -> None:
    if nested:
        body = {"text": "A dog.", "state": body, "options": body}
    with asking(target) as client:
        content = json.dumps(body).encode("utf-8", "surrogatepass")
        documented(client.post(path, content=content, headers={"Content-Type": "application/json"}))


ids = st.integers(3, 345)


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_state(target: str, data: st.DataObject) -> None:
    tokens = data.draw(st.lists(ids, max_size=8))
    n = len(tokens)
    marks = st.just([]) | st.lists(st.booleans(), min_size=n, max_size=n)
    state = {
        "tokens": tokens,
        "locked": data.draw(marks),
        "glued": data.draw(marks),
        "drop": data.draw(marks),
        "counts": data.draw(
            st.just([]) | st.lists(st.none() | st.integers(0, 40), min_size=n + 1, max_size=n + 1)
        ),
        "words": data.draw(
            st.just([]) | st.lists(st.none() | st.integers(0, 4), min_size=n + 1, max_size=n + 1)
        ),
        "banned": data.draw(st.lists(st.lists(ids, min_size=1, max_size=3), max_size=2)),
    }
    terms = data.draw(st.lists(st.sampled_from(["Hund", "Katzen", "\u3042\u3042", "x y", "é"]), max_size=3))
    body = {
        "text": data.draw(st.sampled_from([*LINES[:5], ""])),
        "state": state,
        "terms": terms,
        "ordered": data.draw(st.booleans()),
        "options": {"min_edit": data.draw(st.floats(0, 1)), "max_ratio": data.draw(st.floats(0.1, 4))},
    }
    with asking(target) as client:
        for path in ("/v1/step", "/v1/refine"):
            response = client.post(path, json=body)
            documented(response)
            if response.status_code == 200:
                found = response.json()
                result = found["result"] if path == "/v1/step" else found["results"][0]
                assert all(term in result["text"] for term in terms)


def raw(address: str, data: bytes, *, cut: int | None = None, read: bool = True) -> bytes:
    """Send bytes, maybe only some of them, and go; or wait for what comes."""
    host, port = address.removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        try:
            connection.sendall(data[:cut])
            if not read:
                return b""
            found = b""
            while more := connection.recv(1 << 16):
                found += more
        except ConnectionError:
            return b""
    return found


def http(path: str, body: bytes, length: int | None = None, more: str = "") -> bytes:
    size = len(body) if length is None else length
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {size}\r\nConnection: close\r\n{more}\r\n"
    ).encode() + body


def test_broken_huge_and_leaving(target: str) -> None:
    random_ = random.Random(11)
    whole = http("/v1/translate", json.dumps({"texts": LINES, "stream": True}).encode())
    for _ in range(40):
        raw(target, whole, cut=random_.randrange(1, len(whole)), read=False)
        raw(target, whole, read=False)
        broken = bytearray(whole)
        for _ in range(3):
            broken[random_.randrange(len(broken))] = random_.randrange(256)
        raw(target, bytes(broken), read=False)
    huge = [
        http("/v1/translate", b"x" * 100_000),
        http("/v1/translate", b"", length=10**15),
        http("/v1/translate", b"", length=-1),
        http("/v1/translate", b"{}", more="X-Long: " + "a" * 200_000 + "\r\n"),
        http("/" + "a" * 100_000, b"{}"),
        http("/v1/translate", b"{}", more="Transfer-Encoding: chunked\r\n") + b"\r\nno size\r\n",
        http("/v1/translate", b'{"text": "' + b"\\u0e01" * 3000 + b'"}'),
        http("/v1/translate", b"[" * 19_000),
        http("/v1/translate", b'{"text":' * 2_000),
        http("/v1/translate", b'{"text": "a", "timeout": ' + b"9" * 5_000 + b"}"),
        http("/v1/translate", b'{"text": "a", "options": {"max_iterations": ' + b"9" * 5_000 + b"}}"),
    ]
    for request in huge:
        answer = raw(target, request)
        assert answer == b"" or answer[9:10] == b"4", answer[:200]
        assert b"Traceback" not in answer


def test_slow_ones_do_not_hold_up_others() -> None:
    with serving(limits=Limits(body_seconds=1.0)) as live:
        slow_ones(live.address)


def slow_ones(address: str) -> None:
    host, port = address.removeprefix("http://").rsplit(":", 1)
    slow = [socket.create_connection((host, int(port)), timeout=10) for _ in range(40)]
    for i, connection in enumerate(slow):
        connection.sendall(b"POST /v1/translate HT" if i % 2 else http("/v1/translate", b"{", length=99))
    began = time.monotonic()
    with asking(address) as client:
        assert client.post("/v1/translate", json={"text": LINES[0]}).status_code == 200
    for i, connection in enumerate(slow):
        answer = connection.recv(1 << 16)
        assert answer == b"" if i % 2 else answer.startswith(b"HTTP/1.1 408")
        connection.close()
    assert time.monotonic() - began < 15


def test_schemathesis(target: str) -> None:
    """Requests made from the document: what it allows, and what it forbids."""
    with asking(target) as client:
        api = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    # Limits and the rules between fields are no part of the schema, so what it allows may still be refused.
    left_out = [check for name in ("positive_data_acceptance", "missing_required_header")
                for check in CHECKS.get_all() if check.__name__ == name]  # fmt: skip
    no_failure = [check for check in CHECKS.get_all() if check.__name__ == "not_a_server_error"]
    # It knows only some of the statuses that refuse a request, not 413 for one that is too long.
    refused = [check for check in CHECKS.get_all() if check.__name__ == "negative_data_rejection"]
    assert no_failure
    assert refused
    seen = set()
    for operation in api.get_all_operations():
        seen.add(operation.ok().path)

        @settings(max_examples=12, database=None, suppress_health_check=list(HealthCheck))
        @given(
            operation.ok().as_strategy() | operation.ok().as_strategy(schemathesis.GenerationMode.NEGATIVE)
        )
        def check(case: schemathesis.Case) -> None:
            response = case.call(base_url=target, timeout=20)
            # Whoever asks for an answer within a moment may be told that it is not ready.
            hasty = response.status_code == 504 and isinstance(case.body, dict) and "timeout" in case.body
            told = no_failure if hasty else refused if 400 <= response.status_code < 500 else []
            case.validate_response(response, excluded_checks=left_out + told)
            assert response.status_code < 500 or hasty

        check()
    assert seen >= {*POSTS, "/v1/models", "/healthz", "/readyz", "/metrics"}
