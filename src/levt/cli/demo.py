"""``levt demo``: a few texts and the edits that improve them. Knows no model."""

import re
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from levt.edits.trace import Trace

NOTE = (
    "No model is involved here. The versions of each text were written by hand; the edits between them come "
    "from the oracle, the expert that teaches the model: the fewest deletions and insertions that lead from "
    "one version to the next."
)


@dataclass(frozen=True, kw_only=True)
class Example:
    """A text in versions, each better than the one before."""

    title: str
    versions: tuple[str, ...]
    lang: str = "en"
    source: str | None = None
    characters: bool = False
    """Edit characters instead of words."""


EXAMPLES = (
    Example(
        title="Typing errors, edited by character",
        versions=(
            "We recieved you're ordr yesterday an will ship it tommorow.",
            "We received your order yesterday and will ship it tomorrow.",
        ),
        characters=True,
    ),
    Example(
        title="A clumsy translation, improved in two iterations",
        versions=(
            "Die Bäckerin ist öffnend ihr Laden bevor die Sonne geht auf.",
            "Die Bäckerin öffnet ihren Laden bevor die Sonne geht auf.",
            "Die Bäckerin öffnet ihren Laden, bevor die Sonne aufgeht.",
        ),
        lang="de",
        source="The baker opens her shop before the sun rises.",
    ),
    Example(
        title="A sentence becomes a headline",
        versions=(
            "The city council has decided on Tuesday that the old bridge will stay closed until next spring.",
            "City council decides: old bridge stays closed until spring",
        ),
    ),
    Example(
        title="Written from nothing, with the repetition that a first try in parallel often has",
        versions=(
            "",
            "Ein kleiner kleiner Vogel singt singt am am Morgen.",
            "Ein kleiner Vogel singt am frühen Morgen ein Lied.",
        ),
        lang="de",
        source="A little bird sings a song in the early morning.",
    ),
    Example(
        title="Nothing to improve: one iteration that only confirms",
        versions=("The train leaves at nine.",),
    ),
)


def cut(text: str, *, characters: bool) -> list[str]:
    """The pieces of a text: words and punctuation marks, or characters.

    >>> cut("A dog runs.", characters=False)
    ['▁A', '▁dog', '▁runs', '.']
    >>> cut("A dog", characters=True)
    ['▁A', '▁d', 'o', 'g']
    """
    unit = r"\S" if characters else r"\w+|[^\w\s]"
    return [re.sub(r"^\s+", "▁", piece) for piece in re.findall(rf"\s*(?:{unit})", f" {text}")]


def oracle_trace(example: Example) -> "Trace":
    """The edits of the oracle from version to version, and a last iteration that finds nothing to do."""
    from levt.edits.script import between
    from levt.edits.trace import Trace
    from levt.text.specials import SPECIALS

    versions = [cut(version, characters=example.characters) for version in example.versions]
    vocabulary = [*SPECIALS, *dict.fromkeys(piece for version in versions for piece in version)]
    tokens = [[vocabulary.index(piece) for piece in version] for version in versions]
    scripts = [
        between(before, after) for before, after in zip(tokens, [*tokens[1:], tokens[-1]], strict=True)
    ]
    return Trace.of(tokens[0], scripts, vocabulary.__getitem__, stopped="unchanged")


def demo(json: bool = False, html: Path | None = None) -> None:
    """Show how texts are improved by deleting and inserting, without a model.

    Args:
        json: Print the traces as JSON, one per line, instead of coloured text.
        html: Also write them to this file, as a page for the browser.
    """
    from rich.console import Console

    from levt.edits.render_html import page, section
    from levt.edits.render_terminal import show
    from levt.errors import InputError

    traces = [oracle_trace(example) for example in EXAMPLES]
    if html is not None:
        parts = [
            section(trace, title=example.title, source=example.source, lang=example.lang)
            for example, trace in zip(EXAMPLES, traces, strict=True)
        ]
        try:
            html.write_text(
                page(parts, title="levt: text generation by editing", note=NOTE), encoding="utf-8"
            )
        except OSError as error:
            raise InputError(
                f"cannot write {html}: {error.strerror}", hint="name a file in an existing folder"
            ) from None
    Console(stderr=True).print(NOTE, style="dim", highlight=False)
    console = Console(highlight=False)
    for example, trace in zip(EXAMPLES, traces, strict=True):
        if json:
            print(dumps(trace.to_json(), ensure_ascii=False))
            continue
        console.print()
        console.print(example.title, style="bold", markup=False)
        if example.source is not None:
            console.print(f"source  {example.source}", markup=False, soft_wrap=not console.is_terminal)
        show(trace, console)
