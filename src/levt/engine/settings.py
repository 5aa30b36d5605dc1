"""Keyword settings of the Python API: each goes to the dataclass that has it, and an unknown one is an error."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from levt.errors import ConfigError, InputError
from levt.refine.decoders import DECODERS
from levt.refine.options import Options
from levt.refine.search import SearchOptions
from levt.refine.wish import Wish, checked_text

T = TypeVar("T")

STEERING = ("keep", "drop", "insert_at", "terms")
"""Settings of which every text has its own."""


def taken(cls: type[T], settings: Mapping[str, Any], *, kind: str) -> T:
    """The dataclass made of all the settings; ``kind`` says for whom they are."""
    known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise _unknown(unknown[0], known, kind)
    return cls(**settings)


def _unknown(name: str, known: Sequence[str], kind: str) -> ConfigError:
    """The error about a setting; what another kind of model knows has not been mistyped."""
    kinds = (Options, SearchOptions, *(decoder.options for decoder in DECODERS.values()))
    theirs = {field.name for one in kinds for field in fields(one)}
    near = [] if name in theirs else difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"a model of kind {kind} knows {', '.join(known)}"
    return ConfigError(f"unknown setting {name!r} for a model of kind {kind}", hint=hint)


def wishes_of(
    texts: Sequence[str], drafts: Sequence[str], settings: Mapping[str, Any], *, single: bool
) -> list[Wish]:
    """One wish per text; where there is more than a single one, steering is given for each."""
    known = [field.name for field in fields(Options)]
    options = Options(**{name: value for name, value in settings.items() if name in known})
    rest = {name: value for name, value in settings.items() if name not in known}
    ordered = rest.pop("ordered", False)
    each = {name: rest.pop(name) for name in STEERING if name in rest}
    if rest:
        raise _unknown(next(iter(rest)), [*known, *STEERING, "ordered", "teacher", "candidates"], "levt")
    columns = {name: [value] if single else per_text(name, value, len(texts)) for name, value in each.items()}
    found = []
    for i, (text, draft) in enumerate(zip(texts, drafts, strict=True)):
        try:
            own = {name: values[i] for name, values in columns.items()}
            found.append(Wish(source=text, draft=draft, ordered=ordered, options=options, **own))
        except InputError as error:
            raise error if single else numbered(error, i) from None
    return found


def texts_of(given: Any) -> list[str]:
    """The texts of a list; a single one is a list of characters too, and nobody means that."""
    if isinstance(given, str) or not isinstance(given, Collection):
        raise InputError(f"there must be a list of texts, got {given!r}", hint="[text, …]")
    return [checked_text(text) for text in given]


def pair_of(given: Any) -> tuple[str, str]:
    """A source and a draft; a text of two characters is a pair too, and nobody means that.

    >>> pair_of(["A dog.", "Ein Hund."])
    ('A dog.', 'Ein Hund.')
    """
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise InputError(
            f"there must be pairs of a source and a draft, got {given!r}", hint="[(source, draft), …]"
        )
    source, draft = given
    return source, draft


def per_text(name: str, value: Any, texts: int) -> list[Any]:
    """Steering for many texts: one entry for each, or none at all."""
    if isinstance(value, str) or not isinstance(value, Sequence) or (value and isinstance(value[0], str)):
        raise InputError(f"{name} must have one entry per text, got {value!r}", hint=f"{name}=[[…], […], …]")
    if len(value) not in (0, texts):
        raise InputError(
            f"{name} must have one entry per text, {texts} here, got {len(value)}",
            hint=f"{name}=[[…], […], …], [] for a text that has none",
        )
    return list(value) or [{} if name == "insert_at" else () for _ in range(texts)]


def numbered(error: InputError, i: int) -> InputError:
    """The error, saying which text of a list it is about."""
    return InputError(f"text {i + 1}: {error.message}", hint=error.hint)
