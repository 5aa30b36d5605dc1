"""Wishes through an engine: tokens, parts, batches, terms, re-ranking, and back to results in order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from levt.engine.batching import Budget, batches
from levt.engine.carrying import carried, wordless
from levt.engine.engine import Engine
from levt.engine.parting import by_sentence, source_parts
from levt.engine.result import Result
from levt.engine.story import Story
from levt.errors import InputError
from levt.refine.guard import guard
from levt.refine.loop import Outcome
from levt.refine.numbers import numbers_of
from levt.refine.placing import settle
from levt.refine.request import Request
from levt.refine.rerank import Candidates, variants
from levt.refine.reread import Reader
from levt.refine.steering import Plan, plan
from levt.refine.wish import Wish
from levt.text.readable import readable
from levt.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Rerank:
    """Choose among several refinements of each text."""

    scores: Callable[[Sequence[str], Sequence[str]], list[float]]
    """A teacher: how good each text is as the translation of its source."""
    candidates: Candidates


@runtime_checkable
class Gathering(Protocol):
    """An engine that makes batches of its own, which rows may join and leave."""

    def gather(self, requests: Sequence[Request]) -> list[Outcome]:
        """Refine any number of requests."""
        ...


@dataclass(frozen=True)
class Job:
    """One text, or one part of a text, ready for the network."""

    source: str
    plan: Plan

    @property
    def size(self) -> int:
        """Length that counts for batching: of the longer side, boundaries counted."""
        request = self.plan.request
        return 2 + max(len(request.source), len(request.draft) + sum(len(t) for _, t in self.plan.missing))


def job_of(source: str, plan: Plan) -> Job:
    """The job of a plan; numbers are put right unless the request is for what the policies do and nothing else."""
    return Job(source, replace(plan, numbers=numbers_of(source)) if plan.request.options.reread else plan)


def prepare(wish: Wish, engine: Engine) -> list[Job]:
    """The jobs of a wish: none where there is nothing to do, several where it goes through the model in parts."""
    if wish.blank:
        return []
    if not (wish.options.by_sentence and _of_each(wish)):
        return _jobs(wish, engine)
    target = engine.tokenizers.target
    if wordless(wish.source) and not (wish.drop or target.by_pieces):
        shown = target.normalise(readable(wish.source, engine.tokenizers.source)).strip()
        if target.normalise(wish.draft).strip() in ("", shown):
            parts = carried(shown, target, engine.config.max_length, wish.options)
            return [Job(part, plan) for part, plan in parts]
    return [
        job
        for part in by_sentence(wish.source, wish.draft)
        for job in _jobs(replace(wish, source=part.source, draft=part.draft), engine, part.lead)
    ]


def _of_each(wish: Wish) -> bool:
    """Whether what is asked for can be asked of each sentence: that a word is not there can, that it is cannot."""
    words = all(isinstance(item, str) and len(item.split()) == 1 for item in wish.drop)
    return words and not (wish.keep or wish.insert_at or wish.terms)


def _jobs(wish: Wish, engine: Engine, lead: str | None = None) -> list[Job]:
    """The jobs of a text or of one of its sentences."""
    tokenizers, positions = engine.tokenizers, engine.config.max_length
    plain = not wish.steered and not wish.draft.strip()
    sources = source_parts(wish.source, tokenizers.source, positions, whole=not plain)
    if plain:
        requests = [(part, Request(source=tokens, options=wish.options)) for part, tokens in sources]
        return [
            job_of(part, Plan(request=request, reread=wish.options.reread, lead=" " if i else lead))
            for i, (part, request) in enumerate(requests)
        ]
    [(text, tokens)] = sources
    job = job_of(text, replace(plan(wish, tokens, tokenizers.target), lead=lead))
    needed = len(job.plan.request.draft) + sum(len(t) for _, t in job.plan.missing) + 2
    if needed > positions:
        raise InputError(
            f"the draft has {needed} tokens with its terms and boundaries, the model can hold {positions}",
            hint="refine it sentence by sentence",
        )
    return [job]


def refine_jobs(
    jobs: Sequence[Job], engine: Engine, budget: Budget, rerank: Rerank | None = None
) -> list[Result]:
    """The results of jobs, in their order."""
    found: dict[int, Result] = {}
    if rerank is None and isinstance(engine, Gathering):
        # What needs no second look goes in one piece to an engine that makes its own batches.
        plain = [i for i, job in enumerate(jobs) if not job.plan.missing]
        outcomes = settle(
            [jobs[i].plan for i in plain], lambda _, requests: engine.gather(requests), reader_of(engine)
        )
        tokenizer = engine.tokenizers.target
        for i, outcome in zip(plain, outcomes, strict=True):
            guard(outcome, jobs[i].plan, tokenizer)
            found[i] = to_result(outcome, tokenizer)
    rest = [i for i in range(len(jobs)) if i not in found]
    for numbers in batches([jobs[i].size for i in rest], budget):
        batch = [rest[i] for i in numbers]
        found |= zip(batch, _batch([jobs[i] for i in batch], engine, budget, rerank), strict=True)
    return [found[i] for i in range(len(jobs))]


def reader_of(engine: Engine) -> Reader:
    """Who reads the results of an engine."""
    return Reader(engine.tokenizers.target, engine.config.max_length)


def _batch(jobs: Sequence[Job], engine: Engine, budget: Budget, rerank: Rerank | None) -> list[Result]:
    memory = engine.encode([job.plan.request.source for job in jobs])
    tokenizer = engine.tokenizers.target

    def run(rows: Sequence[int], requests: Sequence[Request]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        # Many orders of terms make many rows of few texts: the budget holds for them, too.
        for start in range(0, len(rows), budget.rows):
            part = slice(start, start + budget.rows)
            outcomes += engine.refine(memory, requests[part], rows[part])
        return outcomes

    outcomes = settle([job.plan for job in jobs], run, reader_of(engine))
    for job, outcome in zip(jobs, outcomes, strict=True):
        guard(outcome, job.plan, tokenizer)
    if rerank is not None:
        outcomes = _best(jobs, outcomes, run, tokenizer, rerank)
    return [to_result(outcome, tokenizer) for outcome in outcomes]


def _best(
    jobs: Sequence[Job],
    outcomes: Sequence[Outcome],
    run: Callable[[Sequence[int], Sequence[Request]], list[Outcome]],
    tokenizer: Tokenizer,
    rerank: Rerank,
) -> list[Outcome]:
    """For each job, the candidate that the teacher likes best; the plain one where it likes two alike."""
    tried = [variants(outcome, rerank.candidates) for outcome in outcomes]
    rows = [i for i, requests in enumerate(tried) for _ in requests]
    more = run(rows, [request for requests in tried for request in requests])
    pools: list[dict[str, Outcome]] = [{tokenizer.decode(o.tokens): o} for o in outcomes]
    for i, outcome in zip(rows, more, strict=True):
        guard(outcome, jobs[i].plan, tokenizer)
        pools[i].setdefault(tokenizer.decode(outcome.tokens), outcome)
    texts = [text for pool in pools for text in pool]
    sources = [job.source for job, pool in zip(jobs, pools, strict=True) for _ in pool]
    scores = iter(rerank.scores(sources, texts))
    return [max(((next(scores), o) for o in pool.values()), key=lambda pair: pair[0])[1] for pool in pools]


def to_result(outcome: Outcome, tokenizer: Tokenizer) -> Result:
    """An outcome of the loop as a user sees it."""
    story = Story(
        draft=outcome.request.draft,
        rounds=outcome.rounds[:],
        stopped=outcome.stopped,
        tokenizer=tokenizer,
    )
    return Result.of(
        story,
        outcome.tokens,
        score=outcome.score,
        iterations=outcome.iterations,
        passes=outcome.passes,
        stopped=outcome.stopped,
    )
