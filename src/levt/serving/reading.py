"""From a request on the wire to jobs for the worker, limits checked. Knows no HTTP and no tensor."""

from collections.abc import Sequence
from typing import Any

from levt.engine.alternatives import Place
from levt.engine.engine import Engine
from levt.engine.refining import Job, prepare
from levt.engine.settings import numbered
from levt.errors import InputError
from levt.refine.options import Options
from levt.refine.wish import Wish
from levt.serving import schema
from levt.serving.limits import Limits
from levt.serving.problems import Problem
from levt.serving.states import Marked, check_tokens, state_job
from levt.text.readable import readable


def batch_jobs(body: schema.Batch, engine: Engine, limits: Limits) -> list[list[Job]]:
    """The jobs of each text: none where it is blank, several where it is too long for one."""
    options = batch_options(body.options, limits)
    if isinstance(body, schema.RefineRequest) and body.state is not None:
        [terms] = columns("terms", body.terms, 1, single=True)
        jobs = of_state(body.text or "", body.state, terms, body.ordered, options, engine, limits)
        return [jobs]
    found: list[list[Job]] = []
    for wish in wishes(body, options, limits):
        try:
            check_draft(wish.draft, engine, limits)
            found.append(checked(prepare(wish, engine), limits))
        except InputError as error:
            raise error if body.texts is None else numbered(error, len(found)) from None
    return found


def batch_options(given: schema.Options, limits: Limits) -> Options:
    """The settings of a refinement; the default is never too much."""
    most = given.max_iterations
    if "max_iterations" in given.model_fields_set:
        limits.check_iterations(most)
    return Options(**given.model_dump() | {"max_iterations": min(most, limits.iterations)})


def wishes(body: schema.Batch, options: Options, limits: Limits) -> list[Wish]:
    """One wish per text."""
    single = body.texts is None
    texts = [body.text or ""] if body.texts is None else body.texts
    limits.check_texts(len(texts))
    drafts, keep, insert_at = [""] * len(texts), list[list[Any]](), list[list[Any]]()
    if isinstance(body, schema.RefineRequest):
        drafts = [body.draft or ""] if body.drafts is None else body.drafts
        if len(drafts) != len(texts):
            raise InputError(
                f"there must be one draft per text, {len(texts)} here, got {len(drafts)}",
                hint="an empty draft where there is none",
            )
        keep = columns("keep", body.keep, len(texts), single=single)
        insert_at = columns("insert_at", body.insert_at, len(texts), single=single)
    drop = columns("drop", body.drop, len(texts), single=single)
    terms = columns("terms", body.terms, len(texts), single=single)
    found = []
    for i, (text, draft) in enumerate(zip(texts, drafts, strict=True)):
        steering = {
            "keep": keep[i] if keep else [],
            "drop": drop[i],
            "terms": terms[i],
            "insert_at": insert_at[i] if insert_at else [],
        }
        for name, items in steering.items():
            limits.check_terms(name, len(items))
        for given in (text, draft):
            limits.check_text(given)
        opened: dict[int, int] = {}
        for place in steering.pop("insert_at"):
            opened[place.at] = opened.get(place.at, 0) + place.count
        parts: dict[str, Any] = {
            name: [(item.start, item.end) if isinstance(item, schema.Span) else item for item in items]
            for name, items in steering.items()
        }
        try:
            found.append(
                Wish(
                    source=text, draft=draft, insert_at=opened, ordered=body.ordered, options=options, **parts
                )
            )
        except InputError as error:
            raise error if single else numbered(error, i) from None
    return found


def check_draft(draft: str, engine: Engine, limits: Limits) -> None:
    """Refuse a draft that is too long before anything is looked up in it, which takes long."""
    positions = engine.config.max_length
    if len(draft) <= min(positions, limits.tokens):
        return
    tokens = len(engine.tokenizers.target.encode(draft))
    limits.check_tokens(tokens)
    if tokens + 2 > positions:
        raise InputError(
            f"the draft has {tokens + 2} tokens with its boundaries, the model can hold {positions}",
            hint="refine it sentence by sentence",
        )


def columns(name: str, given: Sequence[Any], texts: int, *, single: bool) -> list[list[Any]]:
    """Steering of each text: a list for a single one, a list of lists for many; an empty list says nothing.

    >>> columns("terms", [["Hund"], []], 2, single=False)
    [['Hund'], []]
    """
    nested = [isinstance(item, list) for item in given]
    if single:
        if any(nested):
            raise InputError(
                f"{name} must be a list, not a list of lists, where there is one text",
                hint="lists of lists go with texts",
            )
        return [list(given)]
    if not given:
        return [[] for _ in range(texts)]
    if not all(nested) or len(given) != texts:
        raise InputError(
            f"{name} must have one list per text, {texts} here, got {len(given)} entries",
            hint="an empty list for a text that has none",
        )
    return [list(item) for item in given]


def step_jobs(body: schema.StepRequest, engine: Engine, limits: Limits) -> list[Job]:
    """The job of one round."""
    options = Options(**body.options.model_dump(), max_iterations=1, reread=False)
    return of_state(body.text, body.state, body.terms, body.ordered, options, engine, limits)


def of_state(
    text: str,
    state: schema.State,
    terms: Sequence[str],
    ordered: bool,
    options: Options,
    engine: Engine,
    limits: Limits,
) -> list[Job]:
    """The job of a state in tokens."""
    limits.check_text(text)
    limits.check_tokens(len(state.tokens))
    limits.check_terms("terms", len(terms))
    limits.check_terms("banned", len(state.banned))
    for term in terms:
        limits.check_text(term)
    marked = Marked(
        tokens=tuple(state.tokens),
        locked=tuple(state.locked),
        glued=tuple(state.glued),
        drop=tuple(state.drop),
        counts=tuple(state.counts),
        words=tuple(state.words),
        banned=tuple(map(tuple, state.banned)),
    )
    return checked(state_job(text, marked, terms, options, engine, ordered=ordered), limits)


def place_of(body: schema.AlternativesRequest, engine: Engine, limits: Limits) -> Place:
    """Where alternatives are asked for."""
    if "count" in body.model_fields_set:
        limits.check_alternatives("count", body.count)
    limits.check_alternatives("placeholders", body.placeholders)
    limits.check_text(body.text)
    limits.check_tokens(len(body.tokens))
    tokens = tuple(body.tokens)
    check_tokens(tokens, engine.tokenizers.target, "tokens")
    if not body.start <= body.end <= len(tokens):
        raise InputError(
            f"start and end must lie in order between 0 and {len(tokens)}, got {body.start} and {body.end}",
            hint="they count tokens; end is behind the last one to replace",
        )
    reader = engine.tokenizers.source
    source = tuple(reader.encode(readable(body.text, reader)))
    limits.check_tokens(len(source))
    longest = 2 + max(len(source), len(tokens) - (body.end - body.start) + body.placeholders)
    if longest > engine.config.max_length:
        raise InputError(
            f"the text or the state has {longest} tokens with its boundaries, "
            f"the model can hold {engine.config.max_length}",
            hint="ask sentence by sentence, or for fewer placeholders",
        )
    one = body.end - body.start == 1 == body.placeholders
    return Place(
        source=source,
        before=tokens[: body.start],
        after=tokens[body.end :],
        placeholders=body.placeholders,
        count=min(body.count, limits.alternatives),
        current=tokens[body.start] if one else None,
    )


def checked(jobs: list[Job], limits: Limits) -> list[Job]:
    """The jobs of a text, if it has not too many tokens."""
    limits.check_tokens(sum(len(job.plan.request.source) for job in jobs))
    limits.check_tokens(sum(len(job.plan.request.draft) for job in jobs))
    return jobs


def check_model(asked: str | None, served: str) -> None:
    """Refuse a model that is not here."""
    if asked is not None and asked != served:
        raise Problem("unknown_model", f"there is no model {asked!r} here", hint=f"there is {served!r}")
