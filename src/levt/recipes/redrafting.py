"""Redrafting: more drafts for triples, by black boxes that have never seen the sentence. Knows no network.

Few real triples show few of the errors that their system makes. So the triples are cut into folds; for each fold
phrase-based systems learn from all others and draft it anew, as the real system or as the person would have written:
taught by drafts they repeat the errors of the real system, taught by targets they make those of any such system. They
translate the source, and on a *round trip* the target, which another system has translated back: such drafts are nearer
to the target, as those are that people correct. The targets stay what people wrote. Equal sources are in one fold, so
no system translates what it was taught with.
"""

import hashlib
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from levt.data.children import end_with_the_parent
from levt.errors import ConfigError
from levt.recipes.black_boxes.phrase.system import PhraseSystem
from levt.recipes.post_editing_triples import Triples, key, of_rows
from levt.recipes.post_editing_words import words_apart


@dataclass(frozen=True, kw_only=True)
class Fold:
    """What the systems of a fold learn from, and what they are to draft."""

    taught: Triples
    held: Triples


def redrafted(
    triples: Triples,
    *,
    folds: int = 10,
    rounds: int = 1,
    processes: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Triples:
    """The triples with other drafts, four of each for every round; a round cuts anew."""
    if folds < 2:
        raise ConfigError(f"folds must be at least 2, got {folds}", hint="10 is the default")
    usable = [row for row in triples.rows() if all(row)]
    works = []
    for turn in range(rounds):
        places = [fold_of(source, folds, turn) for source, _, _ in usable]
        for fold in sorted(set(places)):
            taught, held = (
                of_rows(row for row, place in zip(usable, places, strict=True) if (place == fold) == chosen)
                for chosen in (False, True)
            )
            works.append(Fold(taught=taught, held=held))
    rows: list[tuple[str, str, str]] = []
    for done, (work, written) in enumerate(zip(works, _answers(works, processes), strict=True), 1):
        for drafts in written:
            rows += zip(work.held.sources, drafts, work.held.targets, strict=True)
        progress(done, len(works))
    return of_rows(rows)


def fold_of(source: str, folds: int, turn: int = 0) -> int:
    """The fold of a source: by what it says, so that equal ones are together.

    >>> fold_of("A dog .", 10) == fold_of("a  dog .", 10)
    True
    """
    number = hashlib.sha256(f"{turn}\n{key(source)}".encode()).digest()[:8]
    return int.from_bytes(number, "big") % folds


def write(fold: Fold) -> list[list[str]]:
    """Train the systems of a fold and let them draft it.

    As the real system would, of the source and on a round trip, then as the person would.
    """
    taught, held = fold.taught, fold.held
    back = PhraseSystem.train(taught.targets, taught.sources).translate(held.targets)
    found = []
    for side in (taught.drafts, taught.targets):
        system = PhraseSystem.train(taught.sources, side)
        found += [
            [words_apart(text) for text in system.translate(sources)] for sources in (held.sources, back)
        ]
    return found


def _answers(works: list[Fold], processes: int) -> Iterator[list[list[str]]]:
    """The drafts of every fold, in order."""
    if processes == 1:
        yield from map(write, works)
        return
    # Not forked: threads of the libraries that models use do not survive it.
    context = multiprocessing.get_context("spawn")
    count = max(1, min(processes, len(works)))
    with ProcessPoolExecutor(count, context, initializer=end_with_the_parent) as pool:
        yield from pool.map(write, works)
