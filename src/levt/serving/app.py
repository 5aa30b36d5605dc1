"""The paths of the server, as OpenAPI shows them. Needs the extra ``serve``; all work is done by the service."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Collection
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from levt import __version__
from levt.errors import LevtError
from levt.serving import schema
from levt.serving.gate import Gate
from levt.serving.metrics import FORMAT
from levt.serving.problems import STATUS, Problem, of_error
from levt.serving.service import Service
from levt.serving.stream import Stream

T = TypeVar("T")
EDITOR = Path(__file__).parent / "editor"
"""The files of the editor page."""
MEDIA = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
"""What each of them is: said here, because the tables of a system may say something that no browser runs."""
LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names of this machine, for itself."""
ASKING = ("invalid_json", "unauthorised", "too_slow", "too_many_bytes", "unsupported_media_type", "unknown_host",
          "invalid_request", "unknown_model", "internal")  # fmt: skip
WORKING = ("too_many_texts", "too_many_tokens", "too_many_iterations", "too_many_terms", "too_many_alternatives",
           "unusable_text", "invalid_option", "queue_full", "shutting_down", "not_ready",
           "deadline_exceeded")  # fmt: skip
JSON = "it must be one JSON object in UTF-8"
LOOKING = ("unauthorised", "unknown_host", "internal")


def create_app(
    service: Service,
    *,
    token: str | None = None,
    cors: Collection[str] = (),
    hosts: Collection[str] | None = LOCAL,
) -> Gate:
    """The server for a service: with a bearer token, for other origins, under certain names (None: any)."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.worker.start()
        yield
        await asyncio.to_thread(service.worker.close, service.limits.seconds)

    app = FastAPI(
        title="levt", version=__version__, description="Text generation by editing. See docs/http-api.md.",
        docs_url=None, redoc_url=None, lifespan=lifespan, redirect_slashes=False,
    )  # fmt: skip
    _errors(app)
    _work(app, service)
    _looks(app, service)
    files = _editor(app)
    if cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After"],
        )
    paths = [route.path for route in app.routes if hasattr(route, "path")]
    return Gate(
        app,
        service.limits,
        service.metrics,
        paths=paths,
        open_paths={"/healthz", "/readyz", *files},
        token=token,
        hosts=hosts,
        origins=cors,
    )


def _work(app: FastAPI, service: Service) -> None:
    """The paths that ask the model."""
    streamed = {"content": schema.event_examples()}

    @app.post("/v1/translate", responses=_responses(schema.Answer, *ASKING, *WORKING, **streamed))
    async def translate(body: schema.TranslateRequest, request: Request) -> Response:
        """Write the target of a source, or of many."""
        return await _batch(service, body, request)

    @app.post("/v1/refine", responses=_responses(schema.Answer, *ASKING, *WORKING, **streamed))
    async def refine(body: schema.RefineRequest, request: Request) -> Response:
        """Improve a draft of the target, or many."""
        return await _batch(service, body, request)

    @app.post("/v1/step", responses=_responses(schema.StepAnswer, *ASKING, *WORKING))
    async def step(body: schema.StepRequest, request: Request) -> Response:
        """Exactly one delete–insert–fill round from a given state."""
        return await _unless_gone(request, service.step(body))

    @app.post("/v1/alternatives", responses=_responses(schema.AlternativesAnswer, *ASKING, *WORKING))
    async def alternatives(body: schema.AlternativesRequest, request: Request) -> Response:
        """Other tokens at a place, with their probabilities."""
        return await _unless_gone(request, service.alternatives(body))

    @app.post(
        "/v1/tokenize",
        responses=_responses(schema.TokenizeResponse, *ASKING, "too_many_tokens", "unusable_text"),
    )
    async def tokenize(body: schema.TokenizeRequest, request: Request) -> Response:
        """Tokens of a text, or the text of tokens."""
        return await _unless_gone(request, service.tokenize(body))


def _looks(app: FastAPI, service: Service) -> None:
    """The paths that tell how things are."""

    @app.get("/v1/models", responses=_responses(schema.Models, *LOOKING))
    async def models() -> Response:
        """The models that answer, and the limits of this server."""
        return _json(service.models())

    @app.get("/healthz", responses=_responses(schema.Status, "unknown_host", "internal"))
    async def healthz() -> Response:
        """Whether the server is alive."""
        return _json({"status": "ok"})

    @app.get("/readyz", responses=_responses(schema.Status, "unknown_host", "internal", "not_ready"))
    async def readyz() -> Response:
        """Whether the server takes requests."""
        if not service.worker.alive:
            raise Problem("not_ready", "the server does not take requests")
        return _json({"status": "ready"})

    text = {"content": {"text/plain": {"schema": {"type": "string"}}}}

    @app.get("/metrics", response_class=Response, responses=_responses(None, *LOOKING, **text))
    async def metrics() -> Response:
        """Counters for Prometheus."""
        return Response(service.metrics.text(), headers={"Content-Type": FORMAT, "Cache-Control": "no-store"})


def _editor(app: FastAPI) -> list[str]:
    """One path for each file of the editor, so that no other file can be asked for."""
    served = {
        "/" + file.relative_to(EDITOR).as_posix(): file
        for file in sorted(EDITOR.rglob("*"))
        if file.is_file()
    }
    if "/index.html" in served:
        served["/"] = served["/index.html"]
    for path, file in served.items():
        app.add_api_route(path, _page(file), methods=["GET"], include_in_schema=False)
    return list(served)


def _page(file: Path) -> Any:
    async def page() -> Response:
        return FileResponse(file, media_type=MEDIA[file.suffix], headers={"Cache-Control": "no-cache"})

    return page


def _errors(app: FastAPI) -> None:
    """Errors of the framework in our own form."""

    async def ours(_: Request, error: Exception) -> Response:
        return _problem(of_error(error))

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _problem(validation(error))

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        types = {404: "not_found", 405: "method_not_allowed"}
        known = types.get(error.status_code, "invalid_json" if error.status_code == 400 else "internal")
        messages = {
            "not_found": ("there is nothing at this path", "/openapi.json has every path"),
            "method_not_allowed": ("this path takes another method", "/openapi.json has every path"),
            "invalid_json": ("the body is not JSON", JSON),
        }
        message, hint = messages.get(known, ("something went wrong here", "the server's log says what"))
        response = _problem(Problem(known, message, hint=hint))
        response.headers.update(error.headers or {})
        return response

    for type in (Problem, LevtError, Exception):
        app.add_exception_handler(type, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


def validation(error: RequestValidationError) -> Problem:
    """What is wrong with a body: the place and the rule, never what was sent."""
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return Problem("invalid_json", "the body is not JSON", hint=JSON)
    lines = []
    for one in found[:5]:
        # Of the alternatives of a field only its name is told, not how each of them failed.
        place = ".".join(str(part)[:80] for part in one["loc"][1:] if not _is_variant(part))
        line = f"{place or 'the body'}: {one['msg'].removeprefix('Value error, ')[:200]}"
        if line not in lines:
            lines.append(line)
    return Problem("invalid_request", "; ".join(lines), hint="/openapi.json has every field")


def _is_variant(part: Any) -> bool:
    return isinstance(part, str) and ("[" in part or part in ("str", "Span"))


async def _batch(service: Service, body: schema.Batch, request: Request) -> Response:
    if body.stream or "text/event-stream" in request.headers.get("accept", ""):
        return Events(await service.stream(body))
    return await _unless_gone(request, service.batch(body))


class Events(StreamingResponse):
    """Server-sent events; whoever goes before the end frees the places of the rest, begun or not."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._written = stream, _written(stream)
        super().__init__(
            self._written,
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._stream.close()
            await self._written.aclose()


async def _written(stream: Stream) -> AsyncGenerator[bytes, None]:
    async with aclosing(stream.events()) as events:
        async for event in events:
            if event is None:
                yield b": still here\n\n"
            else:
                data = json.dumps(event[1], ensure_ascii=False, separators=(",", ":"))
                yield f"event: {event[0]}\ndata: {data}\n\n".encode()
            # Where many events wait, others get their turn, and it is seen when the client has gone.
            await asyncio.sleep(0)


async def _unless_gone(request: Request, work: Awaitable[dict[str, Any]]) -> Response:
    """The answer, unless the client goes away before it is there: then the work is given up."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        return _json(task.result()) if task.done() else Response(status_code=499)
    finally:
        for one in (task, gone):
            one.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _json(value: dict[str, Any]) -> Response:
    body = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})


def _problem(problem: Problem) -> Response:
    return JSONResponse(problem.body(), problem.status, headers=problem.headers())


def _responses(model: Any, *types: str, **more: Any) -> dict[int | str, dict[str, Any]]:
    """The answers of a path: a model for the good one, the types of error by their status."""
    by_status: dict[int, list[str]] = {}
    for type in types:
        by_status.setdefault(STATUS[type], []).append(type)
    found: dict[int | str, dict[str, Any]] = {200: {"description": "The answer.", **more}}
    if model is not None:
        found[200]["model"] = model
    for status, names in sorted(by_status.items()):
        example = {"error": {"type": names[0], "message": "what is wrong", "hint": "what to do"}}
        found[status] = {
            "model": schema.ErrorBody,
            "description": f"Error of type {' or '.join(names)}.",
            "content": {"application/json": {"example": example}},
        }
    return found
