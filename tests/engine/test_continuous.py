"""A real network with requests that come and go, and the alternatives of a place, against the obvious."""

from math import exp

import pytest
import torch

from levt.engine.alternatives import Found, Place, alternatives
from levt.engine.continuous import AtOnce, Continuous, Rolling, continuous
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError
from levt.refine.loop import Outcome
from levt.refine.request import Request
from levt.text.specials import PLH, SPECIALS, UNK
from tiny_models import LINES, TOKENIZERS, tiny

SOURCES = [tuple(TOKENIZERS.source.encode(line)) for line in [*LINES[:5], "A dog.", "", "stone " * 9]]


def made() -> list[Request]:
    requests = [Request(source=source) for source in SOURCES]
    draft = tuple(TOKENIZERS.target.encode("Ein Hund läuft."))
    requests += [
        Request(source=SOURCES[0], draft=draft, open={1: 2}),
        Request(source=SOURCES[3], draft=draft),
    ]
    drop = tuple(i == 1 for i in range(len(draft)))
    return [*requests, Request(source=SOURCES[2], draft=draft, drop=drop, banned=((draft[0],),))]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("every", [1, 2, 5])
def test_one_after_another_is_as_good_as_all_at_once(seed: int, every: int) -> None:
    engine = tiny(seed=seed).engine
    requests = made()
    together = engine.refine(engine.encode([r.source for r in requests]), requests)
    for work in (continuous(engine), AtOnce(engine)):
        assert isinstance(work, Continuous)
        waiting, found, finished = list(requests), list[Outcome](), list[Outcome]()
        while waiting or work.alive:
            found += work.add(waiting[:every])
            del waiting[:every]
            finished += work.step()
        assert {id(o) for o in finished} == {id(o) for o in found}
        for one, other in zip(found, together, strict=True):
            assert (one.tokens, one.iterations, one.passes, one.stopped) == (
                other.tokens, other.iterations, other.passes, other.stopped,
            )  # fmt: skip
            assert one.score == pytest.approx(other.score, abs=1e-4)


def test_the_torch_engine_is_continuous() -> None:
    engine = tiny().engine
    work = continuous(engine)
    assert isinstance(work, Rolling)
    assert work.step() == []
    assert work.add([]) == []
    first, second = work.add([Request(source=SOURCES[0]), Request(source=SOURCES[1])])
    work.leave([first])
    assert len(work.alive) == 1
    assert work.alive[0] is second


def test_sources_that_come_twice_are_read_once_and_serve_both() -> None:
    """Also by a model whose two languages have vocabularies of different sizes."""
    wider = TOKENIZERS.source.size + 9
    engine = tiny(seed=1, source_vocabulary=wider, joint_embeddings=False).engine
    requests = [Request(source=SOURCES[i], banned=((9, 8), (7,))) for i in (1, 0, 1, 2, 0)]
    expected = [engine.refine(engine.encode([one.source]), [one])[0].tokens for one in requests]
    for work in (continuous(engine), AtOnce(engine)):
        found = work.add(requests)
        while work.alive:
            work.step()
        assert [one.tokens for one in found] == expected


def test_who_leaves_before_all_are_answered_at_once_gets_nothing() -> None:
    """Also where somebody else has asked for the very same."""
    engine = tiny().engine
    draft = tuple(TOKENIZERS.target.encode("Ein Hund läuft."))
    work = AtOnce(engine)
    first, second, third = work.add([Request(source=SOURCES[0], draft=draft)] * 3)
    assert first.tokens == second.tokens == draft
    work.leave([second])
    assert [id(one) for one in work.alive] == [id(first), id(third)]
    assert [id(one) for one in work.step()] == [id(first), id(third)]
    assert (second.tokens, second.iterations) == (draft, 0) != (first.tokens, first.iterations)
    assert work.alive == work.step() == []


def test_an_engine_is_told_how_many_threads_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, asked = tiny().engine, []

    def stepping(threads: int = 1) -> Continuous:
        asked.append(threads)
        return AtOnce(engine)

    monkeypatch.setattr(engine, "continuous", stepping)
    assert isinstance(continuous(engine, 3), AtOnce)
    assert asked == [3]


def by_hand(engine: TorchEngine, place: Place, token: int) -> float:
    """Log-probability of a token at the first placeholder, with the network asked directly."""
    row = torch.tensor([[1, *place.before, *[PLH] * place.placeholders, *place.after, 2]])
    with torch.inference_mode():
        logp = engine.network.token(engine.encode([place.source]), row)[0, len(place.before) + 1]  # type: ignore[operator]
    return float(logp[token])


def test_alternatives_are_the_best_tokens() -> None:
    engine = tiny(seed=2).engine
    assert isinstance(engine, TorchEngine)
    places = [
        Place(source=SOURCES[0], before=SOURCES[2][:2], after=SOURCES[2][3:], count=5, current=SOURCES[2][2]),
        Place(source=SOURCES[1], count=3, placeholders=3),
        Place(source=(), before=SOURCES[0], count=10**6),
    ]
    found = alternatives(engine, places)
    for place, one in zip(places, found, strict=True):
        assert len(one.alternatives) == min(place.count, TOKENIZERS.target.size - len(SPECIALS))
        assert all(len(tokens) == place.placeholders for tokens, _ in one.alternatives)
        assert all(min(tokens) >= len(SPECIALS) for tokens, _ in one.alternatives)
        logp = [value for _, value in one.alternatives]
        assert logp == sorted(logp, reverse=True)
        alone: Found = engine.alternatives([place])[0]
        assert alone.alternatives[0][0] == one.alternatives[0][0]
    assert places[0].current is not None
    assert found[0].current is not None
    assert found[0].current == pytest.approx(by_hand(engine, places[0], places[0].current), abs=1e-4)
    (best,), value = found[0].alternatives[0]
    assert value == pytest.approx(by_hand(engine, places[0], best), abs=1e-4)
    unknown = exp(by_hand(engine, places[2], UNK))
    assert unknown + sum(exp(value) for _, value in found[2].alternatives) <= 1.001
    first = max(range(len(SPECIALS), TOKENIZERS.target.size), key=lambda t: by_hand(engine, places[1], t))
    assert first in [tokens[0] for tokens, _ in found[1].alternatives]


def test_an_engine_that_cannot_says_so() -> None:
    with pytest.raises(ConfigError, match="cannot give alternatives"):
        alternatives(object(), [Place(source=())])
