"""What is asked of a model for every line: translate or refine, with its steering. Knows no file and no stream."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from levt.engine.batching import Budget
from levt.engine.model import Model, load
from levt.engine.result import Result
from levt.engine.settings import taken
from levt.errors import InputError
from levt.policy.folder import open_folder
from levt.policy.hub import resolve
from levt.refine.options import Options
from levt.refine.places import find, whole
from levt.refine.wish import Wish
from levt.text.tokenizer import Tokenizer


class Row(NamedTuple):
    """One line of the input with what lies beside it."""

    source: str
    draft: str = ""
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answering:
    """A verb with its settings; the same for all lines."""

    verb: Literal["translate", "refine"]
    """Write from nothing, or improve a draft."""
    model: str
    """Name of a bundled model, a model folder, or an id of the hub."""
    engine: str = "auto"
    """What runs the model."""
    dtype: str | None = None
    """Precision; None leaves it to the engine."""
    batch_size: int = 64
    """Most lines that go through the model together."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Options of the decoding, those that were given."""
    keep: tuple[str, ...] = ()
    """Texts that stay: in the source of a translation, in the draft of a refinement."""
    has_terms: bool = False
    """Whether rows may have terms."""
    ordered: bool = False
    """The terms must appear in the order given."""
    drop: tuple[str, ...] = ()
    """Words that must not appear."""
    teacher: str | None = None
    """A model that chooses among several candidates."""

    def open(self, device: str | None) -> "Answers":
        """Load the model, and the teacher."""
        budget = Budget(rows=self.batch_size, window=4 * self.batch_size)
        model = load(self.model, device=device, dtype=self.dtype, engine=self.engine, budget=budget)
        teacher = None
        if self.teacher is not None:
            teacher = load(
                self.teacher, device=device, dtype=self.teacher_dtype, engine="torch", budget=budget
            )
        return Answers(self, model, teacher)

    @property
    def teacher_dtype(self) -> str | None:
        """Precision of the teacher, which torch runs: products of bytes are of other engines."""
        return None if self.dtype == "int8" else self.dtype

    @property
    def identity(self) -> dict[str, Any]:
        """All that a result depends on: the weights of the models, and the settings."""
        known: dict[str, Any] = {
            "verb": self.verb,
            "settings": dict(sorted(self.settings.items())),
            "keep": list(self.keep),
            "ordered": self.ordered,
            "drop": list(self.drop),
            "engine": self.engine,
            "dtype": self.dtype,
        }
        for name, model in (("model", self.model), ("teacher", self.teacher)):
            if model is not None:
                files = open_folder(resolve(model)).files
                known[name] = {file: one.sha256 for file, one in sorted(files.items())}
        return known


class Answers:
    """A loaded model that answers rows."""

    def __init__(self, asked: Answering, model: Model, teacher: Model | None = None) -> None:
        self.asked, self.model, self.teacher = asked, model, teacher

    def __call__(self, rows: Iterable[Row]) -> Iterator[Result]:
        """Results in order, as they come."""
        asked, model = self.asked, self.model
        steered = asked.keep or asked.has_terms or asked.drop or asked.ordered or self.teacher
        if model.kind == "levt" or steered:
            # Whoever cannot be steered says so, whatever else is set.
            options = taken(Options, asked.settings if model.kind == "levt" else {}, kind=model.kind)
            return model.run((self._wish(row, options) for row in rows), teacher=self.teacher)
        plain = map(self._unsteered, rows)
        if asked.verb == "translate":
            return model.translate_stream((row.source for row in plain), **asked.settings)
        return model.refine_stream(((row.source, row.draft) for row in plain), **asked.settings)

    def _unsteered(self, row: Row) -> Row:
        if row.terms:
            raise InputError(
                f"it has terms, and a model of kind {self.model.kind} cannot be steered",
                hint="leave out --terms, or take a model of kind levt",
            )
        return row

    def _wish(self, row: Row, options: Options) -> Wish:
        asked = self.asked
        if asked.verb == "translate":
            terms = tuple(word for word in asked.keep if whole(row.source, word)) + row.terms
            return Wish(
                source=row.source, terms=terms, ordered=asked.ordered, drop=asked.drop, options=options
            )
        target = self.model.engine.tokenizers.target
        return Wish(
            source=row.source,
            draft=row.draft,
            keep=tuple(word for word in asked.keep if holds(row.draft, word, target)),
            terms=row.terms,
            ordered=asked.ordered,
            drop=asked.drop,
            options=options,
        )


def holds(draft: str, word: str, tokenizer: Tokenizer) -> bool:
    """Whether a text stands in a draft, as it will be looked up there: in given pieces as whole pieces.

    >>> tokenizer = Tokenizer.from_pieces(["do@@", "gs"], continuation="@@")
    >>> holds("do@@ gs", "gs", tokenizer), holds("do@@ gs", "og", tokenizer)
    (True, False)
    """
    if tokenizer.by_pieces:
        return bool(find(draft, word.strip(), by_pieces=True))
    return tokenizer.normalise(word).strip() in tokenizer.normalise(draft)
