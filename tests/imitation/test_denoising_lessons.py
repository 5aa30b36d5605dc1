"""How IT is taught: shares of corruption, spread sources, losses equal to those of each example by itself."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_lessons import (
    SMALL,
    VOCABULARY,
    assert_same_gradients,
    network,
    ragged,
    rows_of,
    sentences,
    store_of,
    tensors,
)

from levt.data.pack import Packed as Budget
from levt.errors import ConfigError
from levt.imitation.denoising_lessons import DenoisingLessons, DenoisingTeaching, spread_rows
from levt.policy.denoising import DenoisingConfig, spread
from levt.policy.layout import Padded

SOURCE, TARGET = sentences(9, seed=1, most=12), sentences(9, seed=2)
CONFIGS = {
    "two": DenoisingConfig(**SMALL),
    "one": DenoisingConfig(**SMALL, share_decoders=True, relative_length=False),
    "separate": DenoisingConfig(**{**SMALL, "joint_embeddings": False}),
}


@pytest.fixture
def lessons(tmp_path: Path) -> Any:
    def make(
        model: Any, config: DenoisingTeaching, source: Any = SOURCE, target: Any = TARGET, tokens: int = 160
    ) -> Any:
        store = store_of(tmp_path, source=source, target=target)
        return DenoisingLessons(store, Budget.fitting(store, target=tokens), model, config, smoothing=0.1)

    return make


def test_sources_are_spread_as_in_decoding() -> None:
    source, target = ragged(SOURCE).bounded(), ragged(TARGET).bounded()
    flat = spread_rows(source, target)
    x = torch.from_numpy(source.padded())
    lengths = torch.tensor([len(row) for row in TARGET])
    wide = spread(x, lengths, int(lengths.max()) + 2)
    assert flat.tolist() == [int(t) for row in wide for t in row if t]


def test_shares_of_corruption(lessons: Any) -> None:
    # Distinct neighbours, so that every change can be seen and told from the others.
    rows = [[5 + (7 * r + i) % 17 for i in range(10)] for r in range(40)]
    model = network(CONFIGS["two"])
    teaching = lessons(model, DenoisingTeaching(noise=0.06, denoising=0.25), rows, rows, 480)
    draw, noised, tokens = np.random.default_rng(0), 0, 0
    kinds = {"replaced": 0, "repeated": 0, "swapped": 0}
    for _ in range(60):
        lesson, _ = teaching.make(np.arange(40), draw)
        for old, new, chosen in zip(
            *(
                rows_of(lesson[name], lesson["target_lengths"], 40)
                for name in ("target", "corrupted", "noised")
            ),
            strict=True,
        ):
            assert (new[0], new[-1]) == (1, 2)
            assert len(set(chosen)) == 1  # a whole row reads one or the other
            noised += chosen[0]
            tokens += 10
            for i in range(1, 11):
                if new[i] != old[i]:
                    from_left = i > 1 and new[i] == old[i - 1]
                    if from_left and new[i - 1] == old[i]:
                        kinds["swapped"] += 1
                    elif from_left:
                        kinds["repeated"] += 1
                    elif new[i] != old[i + 1] or new[i + 1] != old[i]:  # not the left half of a swap
                        kinds["replaced"] += 1
    assert noised / 2400 == pytest.approx(0.25, abs=0.03)
    # A third of the noise each. A random token is in 1 of 18 cases the old one, in 1 the left neighbour; the first
    # token of a row has no left neighbour; what happens to two neighbours at once is rare.
    assert kinds["replaced"] / tokens == pytest.approx(0.02 * 16 / 18, abs=0.003)
    assert kinds["repeated"] / tokens == pytest.approx(0.02 * 0.9 + 0.02 / 18, abs=0.003)
    assert kinds["swapped"] / tokens == pytest.approx(0.02 * 0.9, abs=0.003)


def test_nothing_is_corrupted_without_noise(lessons: Any) -> None:
    teaching = lessons(network(CONFIGS["two"]), DenoisingTeaching(noise=0.0, denoising=1.0))
    lesson, _ = teaching.make(np.arange(9), np.random.default_rng(0))
    assert np.array_equal(lesson["corrupted"], lesson["target"])
    assert lesson["noised"].sum() == sum(len(row) + 2 for row in TARGET)


def obvious(model: Any, lesson: Any, rows: np.ndarray, iterations: int) -> torch.Tensor:
    """The three losses of a lesson, example by example."""
    sums = [torch.zeros(()) for _ in range(3)]
    names = ("corrupted", "noised")
    for corrupted, noised, row in zip(
        *(rows_of(lesson[name], lesson["target_lengths"], len(rows)) for name in names),
        rows.tolist(),
        strict=True,
    ):
        x, target = torch.tensor([[1, *SOURCE[row], 2]]), [1, *TARGET[row], 2]
        memory, size = model.encode(x), len(TARGET[row])
        y, stage = spread(x, torch.tensor([size]), size + 2), "draft"
        for i in range(iterations + 1):
            logits = model.token_logits(model.hidden(memory, y, Padded.of(y), stage))[0]
            log_p = logits.log_softmax(-1)
            for at in range(1, size + 1):
                sums[min(i, 1)] = sums[min(i, 1)] - 0.9 * log_p[at, target[at]] - 0.1 * log_p[at].mean()
            own = [1, *(logits[1:-1, 5:].argmax(-1) + 5).tolist(), 2]
            y, stage = torch.tensor([corrupted if i == 0 and noised[0] else own]), "refine"
        sums[2] = sums[2] - model.length_policy(memory)[0].log_softmax(-1)[size]
    return torch.stack(sums)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("iterations", [1, 3])
def test_equals_the_obvious(name: str, iterations: int, lessons: Any) -> None:
    model = network(CONFIGS[name])
    teaching = lessons(model, DenoisingTeaching(iterations=iterations, length_weight=0.3))
    rows = np.array([4, 0, 8, 2, 1, 7])
    lesson, counted = teaching.make(rows, np.random.default_rng(1))
    assert 0 < lesson["noised"].sum() < sum(len(TARGET[row]) + 2 for row in rows)
    loss, sums = teaching.objective(model)(tensors(lesson), torch.from_numpy(counted).float())
    wanted = obvious(model, lesson, rows, iterations)
    tokens = sum(len(TARGET[row]) for row in rows)
    assert counted.tolist() == [tokens, tokens * iterations, len(rows)]
    torch.testing.assert_close(sums, wanted.detach(), rtol=1e-4, atol=1e-4)
    mean = (wanted * torch.tensor([1.0, 1.0, 0.3]) / torch.from_numpy(counted)).sum()
    torch.testing.assert_close(loss, mean, rtol=1e-4, atol=1e-4)
    assert_same_gradients(model, loss, mean)


def test_random_tokens_are_tokens(lessons: Any) -> None:
    teaching = lessons(network(CONFIGS["two"]), DenoisingTeaching(noise=1.0))
    lesson, _ = teaching.make(np.arange(9), np.random.default_rng(0))
    inner = lesson["corrupted"][lesson["labels"] >= 0]
    assert ((inner >= 5) & (inner < VOCABULARY)).all()


def test_no_examples_teach_nothing(lessons: Any) -> None:
    model = network(CONFIGS["two"])
    teaching = lessons(model, DenoisingTeaching())
    lesson, counted = teaching.make(np.array([], np.int64), np.random.default_rng(0))
    loss, _ = teaching.objective(model)(tensors(lesson), torch.from_numpy(counted).float())
    loss.backward()
    assert all(p.grad is None or not p.grad.any() for p in model.parameters())


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="4 problems"):
        DenoisingTeaching(denoising=2.0, noise=-1.0, iterations=0, length_weight=-0.1)
