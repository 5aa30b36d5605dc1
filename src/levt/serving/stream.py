"""The iterations of a request as they happen, and what becomes of it when nobody listens. Knows no HTTP."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from levt.engine.refining import Job
from levt.refine.loop import Outcome
from levt.refine.phases import Round
from levt.serving import answers
from levt.serving.problems import LATE, Problem, of_error
from levt.text.tokenizer import Tokenizer

Event = tuple[str, dict[str, Any]]
Parts = list[Outcome]
"""The outcomes of the parts of a text."""
BEAT = 10.0
"""Seconds of silence after which a stream says that it is still there."""


class Stream:
    """The events of a request. Whoever has one must close it: that frees the places of what is still missing."""

    def __init__(
        self,
        jobs: list[list[Job]],
        submit: Callable[[list[Callable[[Round], None] | None]], list["asyncio.Future[Outcome]"]],
        result: Callable[[Parts], Awaitable[dict[str, Any]]],
        tokenizer: Tokenizer,
        deadline: float,
    ) -> None:
        """For the parts of each text.

        ``submit`` queues them all, each with somebody to tell its iterations to; ``result`` writes the result of
        a text; after the ``deadline`` nothing is waited for.
        """
        self._deadline = deadline
        self._jobs, self._result, self._tokenizer = jobs, result, tokenizer
        self._loop = asyncio.get_running_loop()
        self._news: asyncio.Queue[tuple[int, Any]] = asyncio.Queue()
        self._live = [len(parts) == 1 and not parts[0].plan.missing for parts in jobs]
        watches = [self._watch(i) if self._live[i] else None for i, parts in enumerate(jobs) for _ in parts]
        self._futures = submit(watches)
        rest = iter(self._futures)
        self._tasks = [
            asyncio.create_task(self._tell(i, [next(rest) for _ in parts])) for i, parts in enumerate(jobs)
        ]

    def close(self) -> None:
        """Give up what is still missing."""
        waiting: list[asyncio.Future[Any]] = [*self._tasks, *self._futures]
        for one in waiting:
            if one.done() and not one.cancelled():
                one.exception()  # looked at: nobody else will
            one.cancel()

    async def events(self) -> AsyncGenerator[Event | None, None]:
        """Every event, None for a sign of life."""
        states = {i: self._jobs[i][0].plan.request.draft for i, here in enumerate(self._live) if here}
        numbers = dict.fromkeys(states, 0)
        for i, draft in states.items():
            yield "draft", {"index": i, **answers.tokens_json(draft, self._tokenizer)}
        missing = len(self._jobs)
        while missing:
            try:
                index, news = await asyncio.wait_for(self._news.get(), BEAT)
            except TimeoutError:
                yield None
                continue
            if isinstance(news, Exception):
                yield "error", of_error(news).body()
                break
            if isinstance(news, Round):
                numbers[index] += 1
                event = answers.iteration_event(index, numbers[index], states[index], news, self._tokenizer)
                states[index] = tuple(event["tokens"])
                yield "iteration", event
                continue
            if not self._live[index]:
                for late in _afterwards(index, news, self._tokenizer):
                    yield late
            yield "result", {"index": index, "result": await self._result(news)}
            missing -= 1
        yield "done", {}

    def _watch(self, index: int) -> Callable[[Round], None]:
        def tell(round_: Round) -> None:
            with suppress(RuntimeError):  # where the loop has ended nobody listens any more
                self._loop.call_soon_threadsafe(self._news.put_nowait, (index, round_))

        return tell

    async def _tell(self, index: int, futures: list["asyncio.Future[Outcome]"]) -> None:
        try:
            self._news.put_nowait((index, await all_of(futures, self._deadline)))
        except Exception as error:
            self._news.put_nowait((index, error))


async def all_of(futures: list["asyncio.Future[Outcome]"], deadline: float) -> list[Outcome]:
    """All outcomes; where one fails, or nobody waits any more, the others are given up.

    ``deadline`` is a time of ``time.monotonic``. Whoever works on them keeps it too, but looks at the clock only
    between two turns.
    """
    try:
        async with asyncio.timeout(max(deadline - time.monotonic(), 0.0)):
            return list(await asyncio.gather(*futures))
    except TimeoutError:
        raise Problem("deadline_exceeded", "the answer was not ready in time", hint=LATE) from None
    finally:
        for future in futures:
            future.cancel()


def _afterwards(index: int, outcomes: Sequence[Outcome], tokenizer: Tokenizer) -> Iterator[Event]:
    """The events of a text that could not be told as they happened."""
    story = answers.joined(outcomes, tokenizer).story
    state = story.draft
    yield "draft", {"index": index, **answers.tokens_json(state, tokenizer)}
    for number, round_ in enumerate(story.rounds, 1):
        event = answers.iteration_event(index, number, state, round_, tokenizer)
        state = tuple(event["tokens"])
        yield "iteration", event
