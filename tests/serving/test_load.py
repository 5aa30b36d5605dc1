"""Many clients at once: nothing is lost, nobody gets another's text, and passes are shared."""

import asyncio
import random
from typing import Any

import httpx
from live import Live, serving

from levt.serving.limits import Limits
from tiny_models import LINES, tiny

CLIENTS = 64
REQUESTS = 4


def work(number: int, random_: random.Random) -> tuple[str, dict[str, Any]]:
    """A request that no other client makes."""
    text = f"{random_.choice(LINES)} {number}"
    kind = random_.randrange(4)
    if kind == 0:
        return "/v1/translate", {"texts": [text, f"{text} again"]}
    if kind == 1:
        return "/v1/refine", {"text": text, "draft": f"Ein Hund {number}", "keep": [str(number)]}
    if kind == 2:
        return "/v1/refine", {"text": text, "draft": "", "terms": ["Stein"]}
    return "/v1/translate", {"text": text}


def expected(live: Live, path: str, body: dict[str, Any]) -> list[str]:
    if "texts" in body:
        return [result.text for result in live.model.translate(body["texts"])]
    if path == "/v1/refine":
        steering = {name: body[name] for name in ("keep", "terms") if name in body}
        return [live.model.refine(body["text"], draft=body["draft"], **steering).text]
    return [live.model.translate(body["text"]).text]


async def clients(live: Live, works: list[list[tuple[str, dict[str, Any]]]]) -> list[list[list[str]]]:
    async def client(own: list[tuple[str, dict[str, Any]]]) -> list[list[str]]:
        answers = []
        async with httpx.AsyncClient(
            base_url=live.address, timeout=60, trust_env=False, verify=False
        ) as http:
            for path, body in own:
                response = await http.post(path, json=body)
                assert response.status_code == 200, response.text
                answers.append([result["text"] for result in response.json()["results"]])
        return answers

    return await asyncio.gather(*map(client, works))


def test_sixty_four_clients() -> None:
    random_ = random.Random(7)
    works = [[work(100 * c + r, random_) for r in range(REQUESTS)] for c in range(CLIENTS)]
    with serving(tiny(seed=5), Limits(seconds=50.0)) as live:
        answers = asyncio.run(clients(live, works))
        registry = live.service.metrics.registry
        rows = registry.get_sample_value("levt_batch_rows_sum") or 0
        steps = registry.get_sample_value("levt_batch_rows_count") or 1
        assert rows / steps > 4, "iterations are shared"
        # A sample is compared, all would take long: one by one is what the server avoids.
        for c in random_.sample(range(CLIENTS), 8):
            for (path, body), answer in zip(works[c], answers[c], strict=True):
                assert answer == expected(live, path, body)
    assert sum(map(len, answers)) == CLIENTS * REQUESTS
