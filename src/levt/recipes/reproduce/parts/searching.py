"""Steps that decode LevT otherwise than greedily: search over counts and noisy parallel decoding.

The paper finds that neither gains much. In both the model chooses among its own outputs by the mean log-probability
of its decisions; the count that was varied is none of them.

- *counts*: the counts of the two least certain gaps of the first iteration are varied by up to 2, up and down. From
  nothing there is one gap, and its count is the length.
- *noise* (Cho 2016): the states that leave a decoder get Gaussian noise, of deviation σ (they are normalised, so
  σ is a share); a few noisy outputs compete with the plain one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch
from torch import nn

from levt.engine.batching import Budget, batches
from levt.engine.model import load
from levt.engine.refining import Job as Part
from levt.engine.refining import prepare, to_result
from levt.engine.result import Result
from levt.policy.decoder import Tower
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.decoding import write_outputs
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.texts import texts_of
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import penalty_of
from levt.refine.loop import Outcome
from levt.refine.options import Options
from levt.refine.rerank import Candidates, variants
from levt.refine.wish import Wish

COUNTS = Candidates(penalties=(), gaps=2, around=2)
NOISE, TIMES = 0.1, 4
"""The σ of noise, and how many noisy outputs there are of each text."""
BUDGET = Budget(rows=64, tokens=8_192)


def search_step(label: str, model: Step, corpus: Step, tuned: Step, *, way: str) -> Step:
    """Decode the test set by a ``way``, counts or noise."""
    config: dict[str, Any] = {"split": "test", "way": way}
    if way == "noise":
        config |= {"noise": NOISE, "times": TIMES, "seed": 1}
    return Step(
        label=label,
        run=search,
        inputs={"model": model, "corpus": corpus, "tuned": tuned},
        config=config,
        seconds=20.0,
        light=True,
    )


def search(job: Job) -> None:
    """Write ``outputs.json``."""
    sources, _ = texts_of(job.inputs["corpus"] / CORPUS, job.config["split"])
    engine: Any = load(job.inputs["model"] / MODEL, engine="torch").engine
    options = Options(empty_gap_penalty=penalty_of(job.inputs["tuned"]))
    texts = [prepare(Wish(source=source, options=options), engine) for source in sources]
    parts = list(chain.from_iterable(texts))
    torch.manual_seed(job.config.get("seed", 1))
    found: dict[int, Outcome] = {}
    for batch in batches([part.size for part in parts], BUDGET):
        chosen = [parts[i] for i in batch]
        best = (
            _by_noise(engine, chosen, job.config["noise"], job.config["times"])
            if job.config["way"] == "noise"
            else _by_counts(engine, chosen)
        )
        found |= dict(zip(batch, best, strict=True))
        job.tell(f"{len(found):,} of {len(parts):,} sentences")
    tokenizer = engine.tokenizers.target
    ordered = iter(to_result(found[i], tokenizer) for i in range(len(parts)))
    results = [
        Result.joined([next(ordered) for _ in text]) if text else Result.empty(tokenizer) for text in texts
    ]
    write_outputs(job.out, results, sources)


def _by_counts(engine: Any, parts: Sequence[Part]) -> list[Outcome]:
    """For each text the best of the plain output and those with other counts."""
    requests = [part.plan.request for part in parts]
    memory = engine.encode([request.source for request in requests])
    plain = engine.refine(memory, requests)
    tried = [variants(outcome, COUNTS) for outcome in plain]
    rows = [i for i, others in enumerate(tried) for _ in others]
    pools: list[list[Outcome]] = [[outcome] for outcome in plain]
    flat = [request for others in tried for request in others]
    for start in range(0, len(flat), BUDGET.rows):
        part = slice(start, start + BUDGET.rows)
        for i, outcome in zip(rows[part], engine.refine(memory, flat[part], rows[part]), strict=True):
            pools[i].append(outcome)
    return [best(pool, sureness) for pool in pools]


def _by_noise(engine: Any, parts: Sequence[Part], noise: float, times: int) -> list[Outcome]:
    """For each text the best of the plain output and some that were disturbed."""
    requests = [part.plan.request for part in parts]
    memory = engine.encode([request.source for request in requests])
    pools: list[list[Outcome]] = [[outcome] for outcome in engine.refine(memory, requests)]
    with disturbed(engine.network, noise):
        for _ in range(times):
            for pool, outcome in zip(pools, engine.refine(memory, requests), strict=True):
                pool.append(outcome)
    return [best(pool, lambda outcome: outcome.score) for pool in pools]


def best(pool: Sequence[Outcome], sure: Callable[[Outcome], float]) -> Outcome:
    """The output that the model is surest of, the first of equals, with the passes of all: they were all made."""
    chosen = max(pool, key=sure)
    chosen.passes = sum(outcome.passes for outcome in pool)
    return chosen


def sureness(outcome: Outcome) -> float:
    """Mean log-probability of what was decided after the first count.

    That one is the model's own in the plain output alone, which with it would seem less sure than the others. What is
    empty has decided nothing, and is sure of nothing.
    """
    sums = [outcome.rounds.sums(i) for i in range(len(outcome.rounds))]
    decided, decisions = sum(one for one, _ in sums), sum(number for _, number in sums)
    if outcome.rounds and not outcome.request.open:
        first = outcome.rounds[0].counts_logp  # from nothing there is one gap
        decided, decisions = decided - sum(first), decisions - len(first)
    return decided / decisions if decisions else -math.inf


@contextmanager
def disturbed(network: nn.Module, noise: float) -> Iterator[None]:
    """Let every decoder give states with Gaussian noise while the block lasts."""

    def disturb(_: nn.Module, __: Any, states: torch.Tensor) -> torch.Tensor:
        return states + noise * torch.randn_like(states)

    hooks = [
        module.register_forward_hook(disturb) for module in network.modules() if isinstance(module, Tower)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
