"""What the server does, between the wire and the worker. Knows no HTTP: it awaits futures and gives JSON values."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from levt.engine.batching import Budget
from levt.engine.model import Model
from levt.engine.refining import Job
from levt.errors import ConfigError
from levt.refine.loop import Outcome
from levt.refine.phases import Round
from levt.serving import answers, reading, schema
from levt.serving.limits import Limits
from levt.serving.metrics import Metrics
from levt.serving.problems import Problem, of_error
from levt.serving.scheduler import Scheduler
from levt.serving.states import check_tokens
from levt.serving.worker import Worker
from levt.text.parts import encode_inside
from levt.text.tokenizer import Tokenizer

Event = tuple[str, dict[str, Any]]
BEAT = 10.0
"""Seconds of silence after which a stream says that it is still there."""


class Service:
    """One model, answering."""

    def __init__(
        self,
        model: Model,
        name: str,
        limits: Limits | None = None,
        budget: Budget | None = None,
        threads: int = 1,
    ) -> None:
        if model.kind != "levt":
            raise ConfigError(
                f"a model of kind {model.kind} cannot be served",
                hint="a model of kind levt can; `levt translate` runs any",
            )
        self.engine, self.name = model.engine, name
        self.limits, budget = limits or Limits(), budget or model.budget
        self.metrics = Metrics()
        scheduler = Scheduler(rows=budget.rows, tokens=budget.tokens, queue=self.limits.queue)
        self.worker = Worker(self.engine, scheduler, self.metrics, threads=threads)
        self.metrics.watch("levt_waiting", "Texts that wait for a place.", lambda: scheduler.waiting)
        self.metrics.watch("levt_running", "Texts on their way.", lambda: scheduler.running)

    async def batch(self, body: schema.Batch) -> dict[str, Any]:
        """All results of a request."""
        deadline = self._deadline(body)
        jobs = await self._read(body)
        found = iter(await _all(self._submit(jobs, deadline)))
        outcomes = [[next(found) for _ in parts] for parts in jobs]
        return {"model": self.name, "results": await self._results(outcomes, trace=body.trace)}

    async def stream(self, body: schema.Batch) -> AsyncIterator[Event | None]:
        """The events of a request, None for a sign of life; what keeps it from beginning is raised before."""
        deadline = self._deadline(body)
        jobs = await self._read(body)
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[tuple[int, Any]]()

        def watch(index: int) -> Callable[[Round], None]:
            def tell(round_: Round) -> None:
                loop.call_soon_threadsafe(queue.put_nowait, (index, round_))

            return tell

        live = [len(parts) == 1 and not parts[0].plan.missing for parts in jobs]
        watches = [watch(i) if live[i] else None for i, parts in enumerate(jobs) for _ in parts]
        futures = self._submit(jobs, deadline, watches)
        return self._events(jobs, live, futures, queue, trace=body.trace)

    async def _events(
        self,
        jobs: list[list[Job]],
        live: list[bool],
        futures: list[asyncio.Future[Outcome]],
        queue: "asyncio.Queue[tuple[int, Any]]",
        *,
        trace: bool,
    ) -> AsyncIterator[Event | None]:
        tokenizer = self.engine.tokenizers.target
        rest = iter(futures)
        tasks = [
            asyncio.create_task(_tell(i, [next(rest) for _ in parts], queue)) for i, parts in enumerate(jobs)
        ]
        states = {i: jobs[i][0].plan.request.draft for i, here in enumerate(live) if here}
        numbers = dict.fromkeys(states, 0)
        try:
            for i, draft in states.items():
                yield "draft", {"index": i, **answers.tokens_json(draft, tokenizer)}
            missing = len(jobs)
            while missing:
                try:
                    index, news = await asyncio.wait_for(queue.get(), BEAT)
                except TimeoutError:
                    yield None
                    continue
                if isinstance(news, Exception):
                    yield "error", of_error(news).body()
                    break
                if isinstance(news, Round):
                    numbers[index] += 1
                    event = answers.iteration_event(index, numbers[index], states[index], news, tokenizer)
                    states[index] = tuple(event["tokens"])
                    yield "iteration", event
                    continue
                if not live[index]:
                    for late in _afterwards(index, news, tokenizer):
                        yield late
                [result] = await self._results([news], trace=trace)
                yield "result", {"index": index, "result": result}
                missing -= 1
            yield "done", {}
        finally:
            for task in tasks:
                task.cancel()
            for future in futures:
                future.cancel()

    async def step(self, body: schema.StepRequest) -> dict[str, Any]:
        """One round."""
        reading.check_model(body.model, self.name)
        deadline = self._deadline(body)
        jobs = await asyncio.to_thread(reading.step_jobs, body, self.engine, self.limits)
        [result] = await self._results([await _all(self._submit([jobs], deadline))], trace=True)
        return {"model": self.name, "result": result}

    async def alternatives(self, body: schema.AlternativesRequest) -> dict[str, Any]:
        """Other tokens at a place."""
        reading.check_model(body.model, self.name)
        place = await asyncio.to_thread(reading.place_of, body, self.engine, self.limits)
        future = asyncio.wrap_future(self.worker.ask(place))
        try:
            found = await asyncio.wait_for(future, self._seconds(body))
        except TimeoutError:
            raise Problem("deadline_exceeded", "the answer was not ready in time") from None
        return {
            "model": self.name,
            **answers.alternatives_json(place, found, self.engine.tokenizers.target),
        }

    async def tokenize(self, body: schema.TokenizeRequest) -> dict[str, Any]:
        """Tokens and text."""
        reading.check_model(body.model, self.name)
        return await asyncio.to_thread(self._tokenize, body)

    def _tokenize(self, body: schema.TokenizeRequest) -> dict[str, Any]:
        tokenizer = self.engine.tokenizers.target
        if body.text is not None:
            self.limits.check_text(body.text)
            text = body.text if tokenizer.by_pieces else tokenizer.normalise(body.text)
            tokens = tuple(encode_inside(tokenizer, text) if body.inside else tokenizer.encode(text))
        else:
            tokens = tuple(body.tokens or ())
            self.limits.check_tokens(len(tokens))
            check_tokens(tokens, tokenizer, "tokens")
        self.limits.check_tokens(len(tokens))
        return {
            "model": self.name,
            **answers.tokens_json(tokens, tokenizer),
            "spans": answers.spans_of(tokens, tokenizer),
        }

    def models(self) -> dict[str, Any]:
        """The model and the limits."""
        config = self.engine.config
        names = schema.Limits.model_fields
        return {
            "models": [
                {
                    "name": self.name,
                    "kind": config.kind,
                    "vocabulary": config.target_vocabulary,
                    "max_length": config.max_length,
                    "max_count": getattr(config, "max_count", 0),
                    "by_pieces": self.engine.tokenizers.target.by_pieces,
                }
            ],
            "limits": {name: getattr(self.limits, name) for name in names},
        }

    async def _read(self, body: schema.Batch) -> list[list[Job]]:
        reading.check_model(body.model, self.name)
        return await asyncio.to_thread(reading.batch_jobs, body, self.engine, self.limits)

    def _submit(
        self,
        jobs: list[list[Job]],
        deadline: float,
        watches: Sequence[Callable[[Round], None] | None] | None = None,
    ) -> list[asyncio.Future[Outcome]]:
        flat = [job for parts in jobs for job in parts]
        found = self.worker.submit(flat, group=object(), deadline=deadline, watches=watches)
        return [asyncio.wrap_future(future) for future in found]

    async def _results(self, outcomes: list[list[Outcome]], *, trace: bool) -> list[dict[str, Any]]:
        def made() -> list[dict[str, Any]]:
            tokenizer = self.engine.tokenizers.target
            return [answers.result_json(parts, tokenizer, trace=trace) for parts in outcomes]

        # Traces take a while: meanwhile others are served.
        return await asyncio.to_thread(made) if trace or len(outcomes) > 1 else made()

    def _deadline(self, body: schema.Request) -> float:
        return self.worker.clock() + self._seconds(body)

    def _seconds(self, body: schema.Request) -> float:
        return min(self.limits.seconds, body.timeout or self.limits.seconds)


async def _all(futures: list[asyncio.Future[Outcome]]) -> list[Outcome]:
    """All outcomes; where one fails, or nobody waits any more, the others are given up."""
    try:
        return list(await asyncio.gather(*futures))
    finally:
        for future in futures:
            future.cancel()


async def _tell(
    index: int, futures: list[asyncio.Future[Outcome]], queue: "asyncio.Queue[tuple[int, Any]]"
) -> None:
    try:
        queue.put_nowait((index, await _all(futures)))
    except Exception as error:
        queue.put_nowait((index, error))


def _afterwards(index: int, outcomes: Sequence[Outcome], tokenizer: Tokenizer) -> Iterator[Event]:
    """The events of a text that could not be told as they happened."""
    story = answers.joined(outcomes, tokenizer).story
    state = story.draft
    yield "draft", {"index": index, **answers.tokens_json(state, tokenizer)}
    for number, round_ in enumerate(story.rounds, 1):
        event = answers.iteration_event(index, number, state, round_, tokenizer)
        state = tuple(event["tokens"])
        yield "iteration", event
