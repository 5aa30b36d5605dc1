"""Other drafts for the same triples: each by a system that never saw the sentence, and the targets as they were."""

import random

import pytest

from levt.errors import ConfigError
from levt.recipes import redrafting
from levt.recipes.post_editing_triples import Triples, key
from levt.recipes.redrafting import Fold, fold_of, redrafted, write
from levt.recipes.reproduce.parts.toy import WORDS, sentence, target


def triples(count: int) -> Triples:
    """Drafts that always get one word wrong: the bear is a bird to their system."""
    rng = random.Random(2)
    sources = [sentence(rng) for _ in range(count)]
    rights = [target(source, "translation") for source in sources]
    return Triples(sources, [right.replace("Bär", "Vogel") for right in rights], rights)


def test_no_system_translates_what_it_was_taught_with(monkeypatch: pytest.MonkeyPatch) -> None:
    given, seen = triples(60), list[Fold]()

    def written(fold: Fold) -> list[list[str]]:
        seen.append(fold)
        return [[f"{side} {len(seen)} of {source}" for source in fold.held.sources] for side in "ab"]

    monkeypatch.setattr(redrafting, "write", written)
    found = redrafted(given, folds=5, rounds=2)
    assert len(found) == 4 * len(given)
    assert sorted(found.sources) == sorted(4 * given.sources)
    rights = dict(zip(given.sources, given.targets, strict=True))
    for source, draft, right in found.rows():
        assert draft.endswith(f" of {source}")
        assert right == rights[source]
    for fold in seen:
        assert {key(source) for source in fold.held.sources}.isdisjoint(map(key, fold.taught.sources))
        assert len(fold.held) + len(fold.taught) == len(given)
    # Two rounds cut differently.
    assert {frozenset(fold.held.sources) for fold in seen[:5]}.isdisjoint(
        frozenset(fold.held.sources) for fold in seen[5:]
    )


def test_systems_repeat_the_errors_of_their_teacher() -> None:
    """And source and target of the toy say the same word for word, so nothing is lost on a round trip."""
    given = triples(120)
    held = given.first(40)
    real, real_trip, ours, our_trip = write(Fold(taught=given.without(held.sources), held=held))
    bears = [i for i, source in enumerate(held.sources) if "bear" in source]
    assert bears
    for drafts, wrong in ((real, True), (real_trip, True), (ours, False), (our_trip, False)):
        assert all(("Bär" not in drafts[i]) == wrong for i in bears)
        known = {*WORDS.values()}
        assert sum(word in known for draft in drafts for word in draft.split()) > 230
    for drafts in (ours, our_trip):
        assert sum(draft == right for draft, right in zip(drafts, held.targets, strict=True)) > 36


def test_processes_change_nothing() -> None:
    given = triples(40)
    alone, together = (redrafted(given, folds=2, processes=n) for n in (1, 2))
    assert alone == together


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ConfigError, match="folds must be at least 2"):
        redrafted(triples(4), folds=1)
    assert {fold_of(str(i), 3) for i in range(40)} == {0, 1, 2}
