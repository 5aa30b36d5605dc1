"""Texts through a model that has no use for steering: tokens, parts, batches, search, results in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from levt.edits.script import between
from levt.engine.batching import Budget, batches
from levt.engine.engine import Engine
from levt.engine.parting import Part, by_sentence, source_parts
from levt.engine.refining import to_result
from levt.engine.result import Alternative, Result
from levt.engine.story import Story
from levt.errors import ConfigError, InputError
from levt.policy.config import PostEditingConfig
from levt.refine.canvas import ParallelOptions
from levt.refine.loop import Outcome
from levt.refine.mend import mend
from levt.refine.phases import Round
from levt.refine.request import Tokens
from levt.refine.search import Hypothesis, SearchOptions
from levt.refine.wish import checked_text
from levt.text.parts import led_by, written_in_error

AnyOptions = SearchOptions | ParallelOptions


@runtime_checkable
class Decodes(Protocol):
    """An engine that also runs models which write all tokens at once."""

    def decode(self, memory: Any, limits: Sequence[int], options: Any) -> list[Outcome]:
        """Write the target of every source, no output longer than its limit (boundaries counted)."""
        ...


@dataclass(frozen=True)
class Task:
    """One text, or one part of a text, ready for the network."""

    source: Tokens
    draft: Tokens
    options: AnyOptions
    lead: str | None = None
    """White space before its result, where it follows another part of the same text."""


def prepare_search(source: str, draft: str, options: AnyOptions, engine: Engine) -> list[Task]:
    """The tasks of a text: none where it is blank, several where it goes through the model in parts."""
    if not checked_text(source).strip() and not checked_text(draft).strip():
        return []
    edits = isinstance(engine.config, PostEditingConfig)
    several = isinstance(options, SearchOptions) and options.n_best > 1
    if not options.by_sentence or several:
        return _tasks(Part(source, draft), options, engine, edits=edits)
    parts = by_sentence(source, draft if edits else "")
    return [task for part in parts for task in _tasks(part, options, engine, edits=edits)]


def _tasks(part: Part, options: AnyOptions, engine: Engine, *, edits: bool) -> list[Task]:
    positions = engine.config.max_length
    tokens = tuple(engine.tokenizers.target.encode(part.draft)) if edits else ()
    if len(tokens) + 2 > positions:
        raise InputError(
            f"the draft has {len(tokens) + 2} tokens with its boundaries, the model can read {positions}",
            hint="refine it sentence by sentence",
        )
    sources = source_parts(part.source, engine.tokenizers.source, positions, whole=edits)
    return [Task(one, tokens, options, " " if i else part.lead) for i, (_, one) in enumerate(sources)]


def search_tasks(tasks: Sequence[Task], engine: Engine, budget: Budget) -> list[Result]:
    """The results of tasks, in their order; all must have the same settings."""
    found: dict[int, Result] = {}
    sizes = [2 + max(len(task.source), len(task.draft)) for task in tasks]
    for batch in batches(sizes, budget):
        chosen = [tasks[i] for i in batch]
        memory = engine.encode([task.source for task in chosen], [task.draft for task in chosen])
        options = chosen[0].options
        limits = [
            options.limit(2 + max(len(task.source), len(task.draft)), engine.config.max_length)
            for task in chosen
        ]
        if isinstance(options, ParallelOptions):
            outcomes = _decoder(engine).decode(memory, limits, options)
            for task, outcome in zip(chosen, outcomes, strict=True):
                mend(outcome, engine.tokenizers.target)
                if task.lead is not None:
                    outcome.become(tuple(led_by(engine.tokenizers.target, outcome.tokens, task.lead)))
            found |= zip(batch, (to_result(o, engine.tokenizers.target) for o in outcomes), strict=True)
            continue
        for i, ranked in zip(batch, engine.search(memory, limits, options), strict=True):
            found[i] = _result(tasks[i], ranked, engine)
    return [found[i] for i in range(len(tasks))]


def _decoder(engine: Engine) -> Decodes:
    if not isinstance(engine, Decodes):
        raise ConfigError(
            f"this engine cannot run a model of kind {engine.config.kind}", hint="--engine torch"
        )
    return engine


def _result(task: Task, ranked: Sequence[Hypothesis], engine: Engine) -> Result:
    tokenizer, best = engine.tokenizers.target, ranked[0]

    def whole(tokens: Tokens) -> Tokens:
        wrong = set(written_in_error(tokenizer, tokens, task.source, task.draft))
        kept = tuple(token for i, token in enumerate(tokens) if i not in wrong) if wrong else tokens
        return kept if task.lead is None else tuple(led_by(tokenizer, kept, task.lead))

    tokens = whole(best.tokens)
    # It did not edit; what it changed of the draft is what the oracle would have changed.
    story = Story(
        draft=task.draft,
        rounds=(Round(between(task.draft, tokens)),),
        stopped=None,
        tokenizer=tokenizer,
    )
    return Result.of(
        story,
        tokens,
        score=best.logp / (len(best.tokens) + 1),
        iterations=len(best.tokens) + 1,
        passes=len(best.tokens) + 1,
        stopped="ended" if best.ended else "limit",
        alternatives=tuple(
            Alternative(
                text=tokenizer.decode(whole(h.tokens)),
                tokens=whole(h.tokens),
                score=h.logp / (len(h.tokens) + 1),
            )
            for h in ranked[1:]
        ),
    )
