"""A server that is slow and fails at random."""

import asyncio
import random
from collections.abc import Awaitable, Callable

from fastapi.responses import Response, StreamingResponse

from browser.scripted_server import problem

SLOW = [0.0, 0.0, 0.02, 0.06, 0.15, 0.3]
FAILS = 0.15
"""Share of the requests that fail."""
TROUBLE = [
    (503, "queue_full", "64 texts are waiting"),
    (500, "internal", "the model is broken"),
    (504, "deadline_exceeded", "it took longer than 30 s"),
    (422, "invalid_request", "it is not to be had"),
]


def at_random(seed: int) -> Callable[[str], Awaitable[Response | None]]:
    """The moods of a seed, request by request."""
    dice = random.Random(seed)

    async def mood(path: str) -> Response | None:
        pause, fails, kind = dice.choice(SLOW), dice.random() < FAILS, dice.randrange(len(TROUBLE) + 1)
        await asyncio.sleep(pause)
        if not fails:
            return None
        if kind < len(TROUBLE):
            return problem(*TROUBLE[kind])
        # It goes away in the middle of its answer.
        return StreamingResponse(iter(["event: draft\n"]), media_type="text/event-stream")

    return mood
