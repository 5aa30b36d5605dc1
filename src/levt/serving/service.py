"""What the server does, between the wire and the worker. Knows no HTTP: it awaits futures and gives JSON values."""

import asyncio
from collections.abc import Callable, Sequence
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
from levt.serving.problems import LATE, Problem
from levt.serving.scheduler import Scheduler
from levt.serving.states import check_tokens
from levt.serving.stream import Stream, all_of
from levt.serving.worker import Worker
from levt.text.parts import encode_inside

GRACE = 1.0
"""Seconds after its deadline in which the worker may still tell what became of a text."""


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
        found = iter(await all_of(self._submit(jobs, deadline), deadline + GRACE))
        outcomes = [[next(found) for _ in parts] for parts in jobs]
        return {"model": self.name, "results": await self._results(outcomes, trace=body.trace)}

    async def stream(self, body: schema.Batch) -> Stream:
        """The events of a request, to be closed in the end; what keeps it from beginning is raised."""
        deadline = self._deadline(body)
        jobs = await self._read(body)

        async def result(parts: list[Outcome]) -> dict[str, Any]:
            [found] = await self._results([parts], trace=body.trace)
            return found

        return Stream(
            jobs,
            lambda watches: self._submit(jobs, deadline, watches),
            result,
            self.engine.tokenizers.target,
            deadline + GRACE,
        )

    async def step(self, body: schema.StepRequest) -> dict[str, Any]:
        """One round."""
        reading.check_model(body.model, self.name)
        deadline = self._deadline(body)
        jobs = await asyncio.to_thread(reading.step_jobs, body, self.engine, self.limits)
        [result] = await self._results(
            [await all_of(self._submit([jobs], deadline), deadline + GRACE)], trace=True
        )
        return {"model": self.name, "result": result}

    async def alternatives(self, body: schema.AlternativesRequest) -> dict[str, Any]:
        """Other tokens at a place."""
        reading.check_model(body.model, self.name)
        place = await asyncio.to_thread(reading.place_of, body, self.engine, self.limits)
        future = asyncio.wrap_future(self.worker.ask(place))
        try:
            found = await asyncio.wait_for(future, self._seconds(body))
        except TimeoutError:
            raise Problem("deadline_exceeded", "the answer was not ready in time", hint=LATE) from None
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
