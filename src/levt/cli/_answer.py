"""What `translate` and `refine` have in common: lines or shards in, answers out. Knows no flag."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from levt.cli._shards import Folders
    from levt.engine.result import Result


def check_wishes(
    verb: str, *, ordered: bool, terms: Path | None, keep: tuple[str, ...], drop: tuple[str, ...]
) -> None:
    """Refuse blank words, and to order what is not there: terms, and words that go over into a translation as terms."""
    from levt.errors import ConfigError
    from levt.refine.wish import item_problem

    for name, words in (("keep", keep), ("drop", drop)):
        for problem in filter(None, (item_problem(name, word, "") for word in words)):
            raise ConfigError(f"--{problem}", hint=f"--{name} WORD")
    if ordered and terms is None and not (verb == "translate" and keep):
        raise ConfigError("--ordered is for terms, and there are none", hint="--terms FILE, or leave it out")


def answer(
    verb: Literal["translate", "refine"],
    *,
    settings: Mapping[str, Any],
    model: str,
    engine: str,
    device: str | None,
    dtype: str | None,
    batch_size: int,
    teacher: str | None,
    keep: tuple[str, ...],
    drop: tuple[str, ...],
    terms: Path | None,
    ordered: bool,
    draft: Path | None,
    folders: "Folders",
    json: bool,
) -> None:
    """Answer standard input on standard output, or shards by shards; settings that are None are the model's own."""
    from levt.cli._lines import Beside, json_line, one_line, respond
    from levt.cli._model import given, open_model
    from levt.cli._shards import answer_folders, runner, wanted
    from levt.data.terms import terms_of
    from levt.engine.settings import taken
    from levt.errors import ConfigError
    from levt.recipes.answering import Answering, Answers, Row
    from levt.refine.decoders import options_of
    from levt.refine.options import Options

    if settings.get("n_best") is not None and not json:
        raise ConfigError("--n-best is for the JSON: a line has room for one text", hint="add --json")
    check_wishes(verb, ordered=ordered, terms=terms, keep=keep, drop=drop)
    sharded = wanted(engine, folders)
    engine, who = runner(engine, folders, device)
    asked = Answering(
        verb=verb,
        model=model,
        engine=engine,
        dtype=dtype,
        batch_size=batch_size,
        settings=given(**settings),
        keep=keep,
        has_terms=terms is not None,
        ordered=ordered,
        drop=drop,
        teacher=teacher,
    )
    if sharded:
        answer_folders(asked, folders, {"draft": draft, "terms": terms}, who=who, json=json)
        return
    if verb == "refine" and draft is None:
        raise ConfigError(
            "there are no drafts to refine", hint="--draft FILE, with one line per line of the input"
        )
    drafts, wished = Beside(draft), Beside(terms)
    loaded = open_model(model, engine=engine, device=device, dtype=dtype, batch_size=batch_size)
    judge = None
    if teacher is not None:
        judge = open_model(
            teacher, engine="torch", device=device, dtype=asked.teacher_dtype, batch_size=batch_size
        )
    # A setting that cannot be is refused whether or not there is a line to use it for.
    taken(Options if loaded.kind == "levt" else options_of(loaded.kind), asked.settings, kind=loaded.kind)
    answers = Answers(asked, loaded, judge)

    def answered(texts: Iterable[str]) -> "Iterator[Result]":
        return answers(Row(text, drafts.next(), terms_of(wished.next())) for text in texts)

    respond(
        answered,
        json_line if json else lambda result: one_line(result.text),
        most=4 * batch_size,
        beside=[drafts, wished],
    )
