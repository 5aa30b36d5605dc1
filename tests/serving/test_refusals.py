"""Everything that is refused, by its own error; and who may ask."""

import asyncio
import socket
import time
from typing import Any

import pytest
from live import PLACE, STATE, Live, refused, serving

from levt.errors import ConfigError
from levt.serving.gate import Gate, check_names, host_name
from levt.serving.limits import Limits
from levt.serving.metrics import Metrics
from levt.serving.server import listen
from levt.serving.service import Service
from tiny_models import tiny

SMALL = Limits(
    bytes=4000,
    texts=3,
    tokens=30,
    iterations=5,
    terms=2,
    alternatives=4,
    queue=3,
    seconds=30.0,
    body_seconds=0.5,
)


@pytest.fixture(scope="module")
def small() -> Any:
    with serving(limits=SMALL) as running:
        yield running


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        ("too_many_texts", "/v1/translate", {"texts": ["a"] * 4}),
        ("too_many_texts", "/v1/refine", {"texts": ["a"] * 4, "drafts": ["a"] * 4}),
        ("too_many_tokens", "/v1/translate", {"text": "dog " * 40}),
        ("too_many_tokens", "/v1/translate", {"text": "dog " * 400}),
        ("too_many_tokens", "/v1/refine", {"text": "a", "draft": "Hund " * 40}),
        ("too_many_tokens", "/v1/step", {"text": "a", "state": {"tokens": [300] * 31}}),
        ("too_many_tokens", "/v1/tokenize", {"tokens": [300] * 31}),
        ("too_many_tokens", "/v1/tokenize", {"text": "dog " * 40}),
        ("too_many_tokens", "/v1/alternatives", PLACE | {"tokens": [300] * 31}),
        ("too_many_iterations", "/v1/translate", {"text": "a", "options": {"max_iterations": 6}}),
        ("too_many_terms", "/v1/translate", {"text": "a", "terms": ["b", "c", "d"]}),
        ("too_many_terms", "/v1/refine", {"text": "a", "draft": "b c d", "keep": ["b", "c", "d"]}),
        ("too_many_terms", "/v1/step", {"text": "a", "state": STATE, "terms": ["b", "c", "d"]}),
        ("too_many_terms", "/v1/step", {"text": "a", "state": STATE | {"banned": [[300]] * 3}}),
        ("too_many_alternatives", "/v1/alternatives", PLACE | {"count": 5}),
        ("too_many_alternatives", "/v1/alternatives", PLACE | {"placeholders": 5}),
        ("unknown_model", "/v1/translate", {"text": "a", "model": "other"}),
        ("unknown_model", "/v1/tokenize", {"text": "a", "model": "other"}),
        ("unusable_text", "/v1/refine", {"text": "a", "draft": "b", "keep": ["c"]}),
        ("unusable_text", "/v1/refine", {"text": "a", "draft": "b", "keep": [{"start": 0, "end": 9}]}),
        ("unusable_text", "/v1/refine", {"texts": ["a"], "drafts": ["b"], "keep": ["b"]}),
        ("unusable_text", "/v1/refine", {"texts": ["a", "b"], "drafts": ["b"]}),
        ("unusable_text", "/v1/translate", {"text": "a", "terms": [["b"]]}),
        ("unusable_text", "/v1/translate", {"text": "a", "terms": [" "]}),
        ("unusable_text", "/v1/step", {"text": "a", "state": STATE, "terms": [" "]}),
        ("unusable_text", "/v1/step", {"text": "a", "state": {"tokens": [4]}}),
        ("unusable_text", "/v1/step", {"text": "a", "state": {"tokens": [10**30]}}),
        ("unusable_text", "/v1/step", {"text": "a", "state": {"tokens": [3], "locked": [True]}}),
        ("unusable_text", "/v1/step", {"text": "a", "state": STATE | {"banned": [[1]]}}),
        ("unusable_text", "/v1/step", {"text": "a", "state": STATE | {"locked": [True]}}),
        ("unusable_text", "/v1/step", {"text": "a", "state": STATE | {"counts": [1]}}),
        ("unusable_text", "/v1/step", {"text": "a", "state": STATE | {"words": [1]}}),
        (
            "unusable_text",
            "/v1/step",
            {"text": "a", "state": STATE | {"counts": [1, None, None], "words": [0, None, None]}},
        ),
        ("unusable_text", "/v1/step", {"text": "a", "state": STATE | {"locked": [True] * 2, "drop": [True] * 2}}),
        ("unusable_text", "/v1/alternatives", PLACE | {"start": 1, "end": 0}),
        ("unusable_text", "/v1/alternatives", PLACE | {"end": 10**30}),
        ("unusable_text", "/v1/tokenize", {"tokens": [2]}),
        ("invalid_request", "/v1/translate", {}),
        ("invalid_request", "/v1/translate", {"text": "a", "texts": ["a"]}),
        ("invalid_request", "/v1/translate", {"text": "a", "draft": "b"}),
        ("invalid_request", "/v1/translate", {"text": 1}),
        ("invalid_request", "/v1/translate", {"text": "a", "options": {"beam": 4}}),
        ("invalid_request", "/v1/translate", {"text": "a", "options": {"min_edit": 2}}),
        ("invalid_request", "/v1/translate", {"text": "a", "options": {"max_iterations": "3"}}),
        ("invalid_request", "/v1/translate", {"text": "a", "timeout": 0}),
        ("invalid_request", "/v1/refine", {"text": "a"}),
        ("invalid_request", "/v1/refine", {"text": "a", "draft": "b", "state": STATE}),
        ("invalid_request", "/v1/refine", {"text": "a", "state": STATE, "keep": ["b"]}),
        ("invalid_request", "/v1/step", {"text": "a", "state": {"tokens": [-1]}}),
        ("invalid_request", "/v1/step", {"text": "a", "state": STATE | {"counts": [10**20, None, None]}}),
        ("invalid_request", "/v1/step", {"text": "a", "state": STATE, "options": {"max_iterations": 1}}),
        ("invalid_request", "/v1/tokenize", {"text": "a", "tokens": [300]}),
    ],
)  # fmt: skip
def test_each_has_its_own_error(small: Live, kind: str, path: str, body: dict[str, Any]) -> None:
    with small.client() as client:
        assert refused(client.post(path, json=body)) == kind
        if path in ("/v1/translate", "/v1/refine"):
            # A stream that cannot begin is refused in the same way.
            assert refused(client.post(path, json=body, headers={"Accept": "text/event-stream"})) == kind


@pytest.mark.parametrize(
    ("kind", "content", "headers"),
    [
        ("invalid_request", b"", {}),
        ("invalid_json", b"{", {}),
        ("invalid_json", b'{"text": "\xff"}', {}),
        ("invalid_json", b"[" * 3000, {}),
        ("invalid_request", b"[]", {}),
        ("invalid_request", b"null", {}),
        ("invalid_request", b'{"text": "a", "timeout": NaN}', {}),
        ("invalid_request", b'{"text": "a", "timeout": 1e999}', {}),
        ("invalid_request", b'{"text": "a", "\\ud800": 1}', {}),
        ("unusable_text", b'{"text": "\\ud800"}', {}),
        ("unsupported_media_type", b'{"text": "a"}', {"Content-Type": "text/plain"}),
        ("unsupported_media_type", b"text=a", {"Content-Type": "application/x-www-form-urlencoded"}),
        ("too_many_bytes", b" " * 4001, {}),
        ("unknown_host", b'{"text": "a"}', {"Host": "evil.example"}),
    ],
)  # fmt: skip
def test_bodies_that_are_none(small: Live, kind: str, content: bytes, headers: dict[str, str]) -> None:
    with small.client() as client:
        response = client.post(
            "/v1/translate", content=content, headers={"Content-Type": "application/json"} | headers
        )
        assert refused(response) == kind
        assert response.json()["error"]["hint"]


def test_a_body_in_parts_is_counted_too(small: Live) -> None:
    with small.client() as client:
        response = client.post(
            "/v1/translate", content=iter([b" " * 3000] * 9), headers={"Content-Type": "application/json"}
        )
    assert refused(response) == "too_many_bytes"


@pytest.mark.parametrize(("parts", "expect", "taken"), [(5, False, 5), (5, True, 0), (1000, False, 22)])
def test_a_body_that_is_too_large_is_taken_in_before_it_is_refused(
    parts: int, expect: bool, taken: int
) -> None:
    """Else a client that is still sending sees a broken connection and never the answer."""
    seen: list[str] = []

    async def receive() -> dict[str, Any]:
        seen.append("part")
        return {"type": "http.request", "body": b" " * 3000, "more_body": seen.count("part") < parts}

    async def send(message: Any) -> None:
        seen.append(message["type"])

    async def nobody(*_: Any) -> None:
        raise AssertionError

    gate = Gate(nobody, SMALL, Metrics(), paths=["/"], open_paths=[])
    headers = [(b"content-type", b"application/json"), (b"content-length", str(3000 * parts).encode())]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers + [(b"expect", b"")] * expect}
    asyncio.run(gate(scope, receive, send))
    assert seen == ["part"] * taken + ["http.response.start", "http.response.body"]


@pytest.mark.parametrize(
    ("origins", "hosts", "names"),
    [
        (["a.example"], [], "SCHEME"),
        (["https://a.example/"], [], "SCHEME"),
        (["https://A.example"], [], "SCHEME"),
        ([], ["a.example:80"], "without a port"),
        ([], ["https://a.example"], "without a port"),
        ([], ["[::1]"], "without a port"),
        ([], ["a.example b.example"], "without a port"),
        ([], [""], "without a port"),
    ],
)
def test_names_that_would_let_nobody_in(origins: list[str], hosts: list[str], names: str) -> None:
    with pytest.raises(ConfigError, match=names):
        check_names(origins, hosts)


def test_names_that_let_somebody_in() -> None:
    check_names(
        ["*", "null", "https://a.example", "http://[::1]:80", "moz-extension://0-f"], ["a.example", "::1"]
    )


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/v1/translate", "method_not_allowed"),
        ("DELETE", "/v1/models", "method_not_allowed"),
        ("OPTIONS", "/v1/translate", "method_not_allowed"),
        ("GET", "/nothing", "not_found"),
        ("POST", "/v1/translate/", "not_found"),
        ("GET", "/docs", "not_found"),
    ],
)
def test_paths_and_methods(small: Live, method: str, path: str, kind: str) -> None:
    with small.client() as client:
        response = client.request(method, path)
    assert refused(response) == kind
    assert response.json()["error"]["hint"]
    assert kind != "method_not_allowed" or response.headers["Allow"]


def slowly(live: Live, *parts: bytes, wait: float = 0.0) -> bytes:
    """What comes back when bytes are sent as they are."""
    host, port = live.address.removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(wait)
        found = b""
        while more := connection.recv(1 << 16):
            found += more
        return found


def test_a_slow_body_is_not_waited_for(small: Live) -> None:
    head = (
        b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n"
    )
    answer = slowly(small, head, b'{"te')
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"too_slow"' in answer


def test_slow_headers_are_not_waited_for(small: Live) -> None:
    began = time.monotonic()
    assert slowly(small, b"POST /v1/translate HTTP/1.1\r\nHost: loc") == b""
    assert slowly(small) == b""
    assert time.monotonic() - began < 15


def test_what_is_no_http_is_refused(small: Live) -> None:
    for noise in (b"\x16\x03\x01\x02\x00" * 20, b"GET\r\n\r\n", b"HELO there\r\n\r\n", b"A" * 100_000):
        answer = slowly(small, noise)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400")


def test_a_token_covers_whatever_costs_or_tells() -> None:
    with serving(token="secret") as live, live.client() as client:
        for method, path in (
            ("POST", "/v1/translate"), ("POST", "/v1/refine"), ("POST", "/v1/step"), ("POST", "/v1/alternatives"),
            ("POST", "/v1/tokenize"), ("GET", "/v1/models"), ("GET", "/metrics"), ("GET", "/openapi.json"),
            ("GET", "/nothing"),
        ):  # fmt: skip
            for header in (
                {},
                *(
                    {"Authorization": one}
                    for one in ("Bearer wrong", "Bearer secre", "Bearer secrets", "Basic secret")
                ),
            ):
                response = client.request(method, path, headers=header)
                assert refused(response) == "unauthorised"
                assert response.headers["WWW-Authenticate"].startswith("Bearer")
        for path in ("/healthz", "/readyz", "/"):
            assert client.get(path).status_code == 200
        right = {"Authorization": "Bearer secret"}
        assert client.get("/v1/models", headers=right).status_code == 200
        assert client.post("/v1/translate", json={"text": "a"}, headers=right).status_code == 200


def test_other_origins_are_let_in_only_when_named(live: Live) -> None:
    ask = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    with live.client() as client:
        assert "access-control-allow-origin" not in client.options("/v1/translate", headers=ask).headers
        response = client.post("/v1/translate", json={"text": "a"}, headers={"Origin": "https://a.example"})
        assert "access-control-allow-origin" not in response.headers
    with serving(cors=["https://a.example"], token="secret") as open_, open_.client() as client:
        allowed = client.options("/v1/translate", headers=ask)
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == "https://a.example"
        other = client.options("/v1/translate", headers=ask | {"Origin": "https://b.example"})
        assert "access-control-allow-origin" not in other.headers


def test_pages_of_named_origins_can_read_why_they_are_refused() -> None:
    page = {"Origin": "https://a.example"}
    with (
        serving(cors=["https://a.example"], token="secret", hosts=["127.0.0.1"]) as live,
        live.client() as client,
    ):
        for headers, type_ in ((page, "unauthorised"), (page | {"Host": "evil.example"}, "unknown_host")):
            response = client.get("/v1/models", headers=headers)
            assert refused(response) == type_
            assert response.headers.get_list("access-control-allow-origin") == ["https://a.example"]
            assert response.headers["vary"] == "Origin"
        other = client.get("/v1/models", headers={"Origin": "https://b.example"})
        assert refused(other) == "unauthorised"
        assert "access-control-allow-origin" not in other.headers
        assert "access-control-allow-origin" not in client.get("/v1/models").headers
        right = client.get("/v1/models", headers=page | {"Authorization": "Bearer secret"})
        assert right.headers.get_list("access-control-allow-origin") == ["https://a.example"]
        assert right.headers["access-control-expose-headers"] == "Retry-After"
    with serving(cors=["*"], token="secret") as live, live.client() as client:
        assert client.get("/v1/models", headers=page).headers["access-control-allow-origin"] == "*"


def test_names_of_hosts() -> None:
    assert host_name("") == ""
    assert host_name("127.0.0.1:80") == "127.0.0.1"


def test_other_kinds_and_busy_ports() -> None:
    with pytest.raises(ConfigError, match="cannot be served"):
        Service(tiny("autoregressive"), "other")
    with listen("127.0.0.1", 0) as busy, pytest.raises(ConfigError, match="cannot listen") as refused_:
        listen("127.0.0.1", busy.getsockname()[1])
    assert "--port 0" in str(refused_.value)
    with pytest.raises(ConfigError, match="cannot listen") as elsewhere:
        listen("192.0.2.1", 0)  # an address that nobody has
    assert "--host must be an address of this machine" in str(elsewhere.value)
    with pytest.raises(ConfigError, match="not an address"):
        listen("no.such.host.invalid", 0)
    with pytest.raises(ConfigError, match="queue must be at least 1, got 0"):
        Limits(queue=0)
