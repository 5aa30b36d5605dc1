"""A server with the wire format of the real one and a scripted model. Some sources make trouble on purpose.

Every request is read by the real schema, so that what the editor sends is what a server takes.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles

from browser.scripted_model import ScriptedModel
from levt.serving import schema

EDITOR = files("levt.serving") / "editor"
LIMITS = {
    "bytes": 1 << 20, "texts": 64, "tokens": 512, "iterations": 50, "terms": 16, "alternatives": 32, "queue": 64,
    "seconds": 30.0,
}  # fmt: skip


def problem(status: int, kind: str, message: str, hint: str | None = None, **headers: str) -> JSONResponse:
    return JSONResponse({"error": {"type": kind, "message": message, "hint": hint}}, status, headers=headers)


class ScriptedServer:
    """What was asked, and how it is answered."""

    def __init__(self) -> None:
        self.model = ScriptedModel()
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.name = "scripted"
        self.token: str | None = None
        self.trouble: list[JSONResponse] = []
        """Answers to the next requests, instead of the right ones."""
        self.pause = 0.0
        """Seconds between the iterations of a stream."""
        self.mood: Callable[[str], Awaitable[Response | None]] | None = None
        """Takes its time with a path, and may give an answer instead of the right one."""

    def last(self, path: str) -> dict[str, Any]:
        return next(body for asked, body in reversed(self.asked) if asked == path)

    async def stream(self, states: list[list[int]], result: dict[str, Any]) -> AsyncIterator[str]:
        def event(name: str, data: Any) -> str:
            return f"event: {name}\ndata: {json.dumps(data)}\n\n"

        def shown(tokens: list[int]) -> dict[str, Any]:
            words = self.model.vocabulary
            return {"text": words.text(tokens), "tokens": tokens, "pieces": words.of(tokens)}

        yield event("draft", {"index": 0, **shown(states[0])})
        for number, state in enumerate(states[1:], 1):
            await asyncio.sleep(self.pause)
            iteration = self.model.iteration(states[number - 1], state)
            yield event("iteration", {"index": 0, "number": number, "iteration": iteration, **shown(state)})
        yield event("result", {"index": 0, "result": result})
        yield event("done", {})


def build(server: ScriptedServer) -> FastAPI:
    app = FastAPI()
    model = server.model

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return problem(422, "invalid_request", str(error.errors()))

    @app.middleware("http")
    async def before(request: Request, go_on: Any) -> Any:
        if request.url.path.startswith("/v1/"):
            if server.token and request.headers.get("Authorization") != f"Bearer {server.token}":
                return problem(401, "unauthorised", "the bearer token is missing or wrong")
            if request.method == "POST":
                body = json.loads(await request.body())
                if body.pop("model", server.name) != server.name:
                    return problem(404, "unknown_model", "there is no such model", f"there is {server.name}")
                server.asked.append((request.url.path, body))
            if server.trouble:
                return server.trouble.pop(0)
            if server.mood and (answer := await server.mood(request.url.path)):
                return answer
        return await go_on(request)

    def answer(states: list[list[int]], locks: dict[int, bool], *, stream: bool) -> Any:
        result = model.result(states, locks)
        if stream:
            return StreamingResponse(server.stream(states, result), media_type="text/event-stream")
        return {"model": "scripted", "results": [result]}

    def locks(state: schema.State) -> dict[int, bool]:
        return {
            token: True for token, locked in zip(state.tokens, state.locked or [], strict=False) if locked
        }

    @app.get("/v1/models")
    async def models() -> Any:
        info = {"name": server.name, "kind": "levt", "vocabulary": 999, "max_length": 128, "max_count": 8}
        return {"models": [{**info, "by_pieces": False}], "limits": LIMITS}

    @app.post("/v1/translate")
    async def translate(body: schema.TranslateRequest) -> Any:
        if body.texts is not None:
            found = [model.translate(text, [], set()) for text in body.texts]
            results = [model.result(states, {}, trace=body.trace) for states in found]
            return {"model": "scripted", "results": results}
        assert body.text is not None
        never = {word for word in body.drop if isinstance(word, str)}
        states = model.translate(body.text, [term for term in body.terms if isinstance(term, str)], never)
        return answer(states, {}, stream=body.stream)

    @app.post("/v1/refine")
    async def refine(body: schema.RefineRequest) -> Any:
        assert body.text is not None
        assert body.state is not None
        terms = [term for term in body.terms if isinstance(term, str)]
        states = model.refine(body.text, body.state.model_dump(), terms, body.options.min_edit)
        return answer(states, locks(body.state), stream=body.stream)

    @app.post("/v1/step")
    async def step(body: schema.StepRequest) -> Any:
        states = model.refine(body.text, body.state.model_dump(), body.terms, body.options.min_edit)
        if not body.state.tokens:
            states = model.translate(body.text, body.terms, set())
        return {"model": "scripted", "result": model.result(states[:2], locks(body.state))}

    @app.post("/v1/alternatives")
    async def alternatives(body: schema.AlternativesRequest) -> Any:
        found = []
        for text, p in (("Welpe", 0.31), ("Rüde", 0.22), ("Vierbeiner", 0.08), ("Tier", 0.0004)):
            tokens = model.encode(" ".join([text] * body.placeholders))
            whole = body.tokens[: body.start] + tokens + body.tokens[body.end :]
            found.append(
                {
                    "text": model.vocabulary.text(whole),
                    "tokens": tokens,
                    "pieces": model.vocabulary.of(tokens),
                    "probability": p,
                }
            )
        return {
            "model": "scripted",
            "current": 0.35 if body.end > body.start else None,
            "alternatives": found,
        }

    @app.post("/v1/tokenize")
    async def tokenize(body: schema.TokenizeRequest) -> Any:
        assert body.text is not None
        tokens = model.encode(body.text, inside=body.inside)
        pieces = model.vocabulary.of(tokens)
        return {"model": "scripted", "text": body.text, "tokens": tokens, "pieces": pieces, "spans": []}

    app.mount("/", StaticFiles(directory=str(EDITOR), html=True))
    return app
