"""The server's answers are the model's; every answer has the form that the schema promises."""

import json
from typing import Any

import httpx
import pytest
from live import Live
from pydantic import BaseModel

from levt.edits.trace import Trace
from levt.engine.result import Result
from levt.serving import schema
from levt.serving.app import EDITOR, MEDIA
from levt.text.parts import characters_of
from tiny_models import LINES, TOKENIZERS

TARGET = TOKENIZERS.target
LONG = " ".join(LINES)
DRAFT = "Ein Hund läuft über Gras."


def post(client: httpx.Client, path: str, body: dict[str, Any], form: type[BaseModel]) -> dict[str, Any]:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    form.model_validate(response.json())
    found: dict[str, Any] = response.json()
    return found


def same(answer: dict[str, Any], result: Result, *, trace: bool = False) -> None:
    expected = result.to_json()
    assert expected.pop("alternatives") == []
    whole = expected.pop("trace")
    assert answer["score"] == pytest.approx(expected.pop("score"), abs=1e-4)
    assert {name: answer[name] for name in expected} == expected
    assert (answer["trace"] is not None) == trace
    if trace:
        read = Trace.from_json(answer["trace"])
        assert [i.script for i in read.iterations] == [i.script for i in Trace.from_json(whole).iterations]
        assert answer["spans"] == [list(span) for span in characters_of(TARGET, answer["tokens"])]
        assert len(answer["locked"]) == len(answer["glued"]) == len(answer["tokens"])


def test_translation_is_the_models(live: Live, client: httpx.Client) -> None:
    texts = [*LINES[:5], "", "  ", LONG, "x" * 40]
    found = post(client, "/v1/translate", {"texts": texts, "trace": True}, schema.Answer)["results"]
    for answer, result in zip(found, live.model.translate(texts), strict=True):
        same(answer, result, trace=True)
    for text in (LINES[0], "", LONG):
        [answer] = post(client, "/v1/translate", {"text": text}, schema.Answer)["results"]
        same(answer, live.model.translate(text))
    options = {"max_iterations": 2, "empty_gap_penalty": 1.5, "max_ratio": 3}
    [answer] = post(client, "/v1/translate", {"text": LINES[0], "options": options}, schema.Answer)["results"]
    same(answer, live.model.translate(LINES[0], max_iterations=2, empty_gap_penalty=1.5, max_ratio=3.0))
    assert post(client, "/v1/translate", {"texts": []}, schema.Answer)["results"] == []


def test_refinement_is_the_models(live: Live, client: httpx.Client) -> None:
    plain = {"text": LINES[0], "draft": DRAFT, "trace": True}
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {}),
        ({"keep": ["Ein Hund", {"start": 15, "end": 19}]}, {"keep": ["Ein Hund", (15, 19)]}),
        ({"drop": ["Gras", {"start": 0, "end": 3}]}, {"drop": ["Gras", (0, 3)]}),
        ({"terms": ["Schnee", "Katzen"], "ordered": True}, {"terms": ["Schnee", "Katzen"], "ordered": True}),
        ({"insert_at": [{"at": 8, "count": 1}, {"at": 8, "count": 1}]}, {"insert_at": {8: 2}}),
        ({"options": {"min_edit": 1}}, {"min_edit": 1.0}),
    ]
    for wire, python in cases:
        [answer] = post(client, "/v1/refine", plain | wire, schema.Answer)["results"]
        same(answer, live.model.refine(LINES[0], draft=DRAFT, **python), trace=True)
    many = {"texts": LINES[:2], "drafts": [DRAFT, ""], "keep": [["Hund"], []], "terms": [[], ["Stein"]]}
    found = post(client, "/v1/refine", many, schema.Answer)["results"]
    results = live.model.refine(LINES[:2], draft=[DRAFT, ""], keep=[["Hund"], []], terms=[[], ["Stein"]])
    for answer, result in zip(found, results, strict=True):
        same(answer, result)


def test_a_step_is_one_round(live: Live, client: httpx.Client) -> None:
    expected = live.model.edit_step(LINES[0], DRAFT)
    body = {"text": LINES[0], "state": {"tokens": TARGET.encode(DRAFT)}}
    answer = post(client, "/v1/step", body, schema.StepAnswer)["result"]
    same(answer, expected, trace=True)
    assert len(answer["trace"]["iterations"]) == 1


def test_steps_in_a_row_are_the_refinement(live: Live, client: httpx.Client) -> None:
    whole = live.model.translate(LINES[1], reread=False)
    tokens: list[int] = []
    for iteration in whole.trace.iterations:
        step = post(client, "/v1/step", {"text": LINES[1], "state": {"tokens": tokens}}, schema.StepAnswer)
        [made] = step["result"]["trace"]["iterations"]
        assert made["script"] == iteration.script.to_json()
        tokens = step["result"]["tokens"]
    assert tuple(tokens) == whole.tokens


def test_words_that_were_asked_for_are_there_at_the_end(client: httpx.Client) -> None:
    tokens = TARGET.encode("Zwei Katzen schlafen")
    n = len(tokens)
    words: list[int | None] = [None] * (n + 1)
    words[0] = 3
    state = {"tokens": tokens, "locked": [True] * n, "words": words, "counts": [None] + [0] * n}
    body = {"text": LINES[1], "state": state, "trace": True}
    [result] = post(client, "/v1/refine", body, schema.Answer)["results"]
    assert len(result["trace"]["iterations"]) > 1
    first = result["trace"]["iterations"][0]
    assert (first["script"]["counts"][0], len(first["pieces"])) == (3, 3)
    assert all(piece.startswith("▁") and piece[1:].isalpha() for piece in first["pieces"])
    left = iter(result["pieces"])
    assert all(piece in left for piece in first["pieces"])


def test_a_step_obeys_the_person(client: httpx.Client) -> None:
    tokens = TARGET.encode("Zwei Katzen schlafen")
    n = len(tokens)
    locked = [i % 2 == 0 for i in range(n)]
    drop = [i == 1 for i in range(n)]
    counts: list[int | None] = [None] * (n + 1)
    counts[0], counts[n] = 3, 0
    state = {"tokens": tokens, "locked": locked, "drop": drop, "counts": counts}
    result = post(client, "/v1/step", {"text": LINES[1], "state": state}, schema.StepAnswer)["result"]
    script = result["trace"]["iterations"][0]["script"]
    assert script["drop"][1]
    assert not any(gone and lock for gone, lock in zip(script["drop"], locked, strict=True))
    assert (script["counts"][0], script["counts"][-1]) == (3, 0)
    kept = [token for token, lock in zip(result["tokens"], result["locked"], strict=True) if lock]
    assert kept == [token for token, lock in zip(tokens, locked, strict=True) if lock]


def test_states_can_be_refined_and_have_terms(client: httpx.Client) -> None:
    tokens = TARGET.encode("Zwei Katzen schlafen")
    n = len(tokens)
    for terms in (["Katzen"], ["Stein"], ["Katzen", "Stein", "Hund"]):
        for state in ({"tokens": tokens}, {"tokens": tokens, "drop": [True] * n}, {"tokens": []}):
            body = {"text": LINES[1], "state": state, "terms": terms}
            [result] = post(client, "/v1/refine", body | {"trace": True}, schema.Answer)["results"]
            assert all(term in result["text"] for term in terms)
            step = post(client, "/v1/step", body, schema.StepAnswer)["result"]
            assert all(term in step["text"] for term in terms)
    locked = {"tokens": tokens, "locked": [True] * n, "glued": [i > 0 for i in range(n)]}
    [result] = post(client, "/v1/refine", {"text": LINES[1], "state": locked, "trace": True}, schema.Answer)[
        "results"
    ]
    assert "Zwei Katzen schlafen" in result["text"]
    assert sum(result["glued"]) == n - 1
    banned = {"tokens": tokens, "banned": [[tokens[0]]]}
    [result] = post(client, "/v1/refine", {"text": LINES[1], "state": banned}, schema.Answer)["results"]
    assert tokens[0] not in result["tokens"]


def test_a_state_is_as_good_as_its_draft(live: Live, client: httpx.Client) -> None:
    body = {"text": LINES[0], "state": {"tokens": TARGET.encode(DRAFT)}, "trace": True}
    [answer] = post(client, "/v1/refine", body, schema.Answer)["results"]
    same(answer, live.model.refine(LINES[0], draft=DRAFT), trace=True)


def test_alternatives(live: Live, client: httpx.Client) -> None:
    tokens = TARGET.encode(DRAFT)
    body = {"text": LINES[0], "tokens": tokens, "start": 2, "end": 3, "count": 5}
    found = post(client, "/v1/alternatives", body, schema.AlternativesAnswer)
    shown = [one["probability"] for one in found["alternatives"]]
    assert shown == sorted(shown, reverse=True)
    assert len({tuple(one["tokens"]) for one in found["alternatives"]}) == len(shown) == 5
    assert 0 <= found["current"] <= 1
    for one in found["alternatives"]:
        assert one["text"] == TARGET.decode([*tokens[:2], *one["tokens"], *tokens[3:]])
    # Put in between, and several at once; the best first token is what a step would write there.
    for start, end, placeholders in ((2, 2, 1), (0, 3, 2), (len(tokens), len(tokens), 3)):
        more = body | {"start": start, "end": end, "placeholders": placeholders}
        found = post(client, "/v1/alternatives", more, schema.AlternativesAnswer)
        assert found["current"] is None
        assert all(len(one["tokens"]) == placeholders for one in found["alternatives"])
    counts: list[int | None] = [0] * len(tokens)
    counts[2] = 1
    state = {"tokens": [*tokens[:2], *tokens[3:]], "locked": [True] * (len(tokens) - 1), "counts": counts}
    step = post(client, "/v1/step", {"text": LINES[0], "state": state}, schema.StepAnswer)["result"]
    best = post(client, "/v1/alternatives", body, schema.AlternativesAnswer)["alternatives"][0]
    iteration = step["trace"]["iterations"][0]
    assert iteration["script"]["fill"] == best["tokens"]
    assert iteration["fill_probs"][0] == pytest.approx(best["probability"], abs=1e-4)


def test_tokenize(client: httpx.Client) -> None:
    for text in (DRAFT, "", "naïve ▁ <s> 日本 🎉 \n x", "a  b "):
        found = post(client, "/v1/tokenize", {"text": text}, schema.TokenizeResponse)
        assert found["text"] == TARGET.normalise(text)
        assert found["tokens"] == TARGET.encode(text)
        assert found["spans"] == [list(span) for span in characters_of(TARGET, found["tokens"])]
        back = post(client, "/v1/tokenize", {"tokens": found["tokens"]}, schema.TokenizeResponse)
        assert back == found
    inside = post(client, "/v1/tokenize", {"text": "nd", "inside": True}, schema.TokenizeResponse)
    assert not inside["pieces"][0].startswith("▁")


def events(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in response.read().decode().split("\n\n"):
        if block and not block.startswith(":"):
            name, data = block.split("\n", 1)
            found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@pytest.mark.parametrize("how", ["flag", "header"])
def test_a_stream_tells_the_same(client: httpx.Client, how: str) -> None:
    body: dict[str, Any] = {
        "texts": [LINES[0], "", LINES[1], LONG], "terms": [[], [], ["Stein"], []], "trace": True
    }  # fmt: skip
    expected = post(client, "/v1/translate", body, schema.Answer)["results"]
    headers = {"Accept": "text/event-stream"} if how == "header" else {}
    response = client.post("/v1/translate", json=body | {"stream": how == "flag"}, headers=headers)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    told = events(response)
    assert told[-1] == ("done", {})
    for name, data in told[:-1]:
        schema.EVENTS[name].model_validate(data)
    for index, result in enumerate(expected):
        mine = [(name, data) for name, data in told if data.get("index") == index]
        [end] = [data["result"] for name, data in mine if name == "result"]
        assert mine[-1][0] == "result"
        assert end == result | {"score": end["score"], "trace": end["trace"]}
        [draft] = [data for name, data in mine if name == "draft"]
        assert draft["tokens"] == result["trace"]["draft"]["tokens"]
        rounds = [data for name, data in mine if name == "iteration"]
        assert [one["number"] for one in rounds] == list(range(1, len(rounds) + 1))
        state, trace = tuple(draft["tokens"]), Trace.from_json(end["trace"])
        # Lone bytes are taken out when all is told: nobody decided that, so it is no iteration.
        own = [one for one in trace.iterations if one.counts_probs is not None]
        assert own == list(trace.iterations[: len(own)])
        assert len(rounds) >= len(own)
        for one, iteration in zip(rounds, own, strict=False):
            state = iteration.script.apply(state)
            assert tuple(one["tokens"]) == state
            assert one["iteration"] == iteration.to_json()
            assert one["text"] == TARGET.decode(state)


def test_what_it_tells_of_itself(live: Live, client: httpx.Client) -> None:
    found = client.get("/v1/models").json()
    schema.Models.model_validate(found)
    assert found["models"][0]["name"] == "tiny"
    assert found["limits"]["texts"] == live.service.limits.texts
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    client.post("/v1/translate", json={"text": LINES[0], "model": "tiny"})
    client.get("/a/path/that/is/not/there")
    numbers = client.get("/metrics").text
    assert 'levt_requests_total{path="/v1/translate",status="200"}' in numbers
    assert 'levt_requests_total{path="other",status="404"}' in numbers
    assert "not/there" not in numbers
    assert "levt_waiting 0.0" in numbers


def test_openapi_examples_are_valid(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    forms = {form.__name__: form for form in (
        schema.TranslateRequest, schema.RefineRequest, schema.StepRequest, schema.AlternativesRequest,
        schema.TokenizeRequest,
    )}  # fmt: skip
    for name, form in forms.items():
        examples = document["components"]["schemas"][name]["examples"]
        assert examples
        for example in examples:
            form.model_validate(example)
    for path, methods in document["paths"].items():
        for method in methods.values():
            assert method["summary"]
            assert method["description"]
            assert set(method["responses"]) >= {"200", "500"}, path
            assert "HTTPValidationError" not in json.dumps(method)


def test_the_editor_is_at_the_root(client: httpx.Client) -> None:
    for path in ("/../app.py", "/%2e%2e/app.py", "/..%2fapp.py", "/app.py", "/editor/index.html"):
        assert client.get(path).status_code == 404
    files = sorted(EDITOR.iterdir())
    assert {file.suffix for file in files} == set(MEDIA)
    for path, file in [("/", EDITOR / "index.html"), *((f"/{file.name}", file) for file in files)]:
        response = client.get(path)
        assert response.status_code == 200
        assert response.content == file.read_bytes()
        assert response.headers["content-type"].partition(";")[0] == MEDIA[file.suffix]


@pytest.mark.parametrize("path", ["/", "/main.js", "/v1/models", "/nothing", "/metrics"])
def test_no_page_may_frame_it_or_bring_scripts_in(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert set(policy.values()) == {"'none'", "'self'"}
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
