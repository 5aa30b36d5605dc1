"""Glancing, deep losses, correction and shifted pairs: each equal to a slow computation."""

import itertools

import pytest
import torch
from small_lessons import lesson_of, levt_config, network, noisy, rows_of, sentences, shape_for, tensors

from levt.imitation.glancing import shown
from levt.imitation.lesson import decisions
from levt.imitation.objective import LevTObjective, ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.imitation.shifted import REACH, shifted_loss
from levt.policy.layout import Padded
from levt.text.specials import PLH, SPECIALS

SOURCE, TARGET = sentences(6, seed=1), sentences(6, seed=2)
DRAFT = noisy(TARGET, seed=3)
ROLL_IN = RollIn(fill="argmax", empty=0.4)


def test_shifted_pairs() -> None:
    torch.manual_seed(0)
    runs = [3, 1, 5, 9]
    places, begin = [], 4
    for length in runs:
        places += range(begin, begin + length)
        begin += length + 2
    count, v = sum(runs), 13
    logits, labels = torch.randn(count + 3, v), torch.randint(v, (count + 3,))
    labels[count:] = -1
    at = torch.tensor([*places, 0, 0, 0])
    log_p = logits.log_softmax(-1)
    wanted = 0.0
    for begin, length in zip(itertools.accumulate([0, *runs]), runs, strict=False):
        for j in range(begin, begin + length - 1):
            total = 0.0
            for a in range(max(begin, j - REACH), min(begin + length - 1, j + REACH + 1)):
                total += float((log_p[a, labels[j]] + log_p[a + 1, labels[j + 1]]).exp())
            wanted -= float(torch.tensor(total).log())
    assert float(shifted_loss(logits, labels, at)) == pytest.approx(wanted, rel=1e-4)


def test_the_worse_a_row_the_more_is_shown() -> None:
    torch.manual_seed(0)
    rows = torch.arange(2).repeat_interleave(10_000)
    labels = torch.full((20_001,), 7)
    guesses = labels.clone()
    guesses[:2_000] = 6  # a fifth of row 0 is wrong, half of row 1
    guesses[10_000:15_000] = 6
    labels[-1], rows = -1, torch.cat([rows, torch.tensor([2])])
    found = shown(guesses, labels, rows, 2, 0.5)
    assert found[:10_000].float().mean() == pytest.approx(0.1, abs=0.02)
    assert found[10_000:20_000].float().mean() == pytest.approx(0.25, abs=0.02)
    assert not found[-1]


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("drafts", [False, True])
def test_correction(joint: bool, drafts: bool) -> None:
    """Where the model's own token is wrong, the deletion states name the right one."""
    model = network(levt_config())
    draft = DRAFT if drafts else None
    shape = shape_for(SOURCE, TARGET, draft, roll_in=ROLL_IN, joint=joint, room=7)
    lesson = lesson_of(SOURCE, TARGET, draft, roll_in=ROLL_IN, shape=shape)
    config = ObjectiveConfig(label_smoothing=0.0, correction=0.5)
    total = torch.tensor([*decisions(lesson).tolist(), 3]).float()
    with torch.no_grad():
        loss, sums = LevTObjective(model, config, ROLL_IN, shape)(tensors(lesson), total)
        plain, three = LevTObjective(model, ObjectiveConfig(label_smoothing=0.0), ROLL_IN, shape)(
            tensors(lesson), total[:3]
        )
        wanted = torch.zeros(())
        for i, row in enumerate(rows_of(lesson["delete"], lesson["delete_lengths"], 6)):
            if PLH not in row:
                continue
            memory = model.encode(torch.tensor([[1, *SOURCE[i], 2]]))
            y = torch.tensor([row])
            logits = model.token_logits(model.hidden(memory, y, Padded.of(y), "token"))[0]
            own = logits[:, len(SPECIALS) :].argmax(-1) + len(SPECIALS)
            filled = torch.where(y.eq(PLH), own, y)
            logits = model.token_logits(model.hidden(memory, filled, Padded.of(y), "delete"))[0].log_softmax(
                -1
            )
            for j, token in enumerate([1, *TARGET[i], 2]):
                if row[j] == PLH and filled[0, j] != token:
                    wanted -= logits[j, token]
    torch.testing.assert_close(sums[:3], three)
    torch.testing.assert_close(sums[3], wanted, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(loss, plain + 0.5 * wanted / 3, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_deep_losses_of_two_layers_are_those_of_the_first(norm: str) -> None:
    """With one exit below the last there is nothing to draw: it is the loss of the model that leaves there."""
    shape = shape_for(SOURCE, TARGET, roll_in=ROLL_IN, joint=True)
    lesson = lesson_of(SOURCE, TARGET, roll_in=ROLL_IN, shape=shape)
    model = network(levt_config(decoder_layers=2, norm=norm))
    shallow = network(
        levt_config(decoder_layers=2, norm=norm, token_exit=1, placeholder_exit=1, delete_exit=1)
    )
    total = torch.from_numpy(decisions(lesson)).float()
    with torch.no_grad():
        _, sums = LevTObjective(model, ObjectiveConfig(deep=0.5), ROLL_IN, shape)(
            tensors(lesson), torch.cat([total, total])
        )
        _, three = LevTObjective(model, ObjectiveConfig(), ROLL_IN, shape)(tensors(lesson), total)
        deep = model.state_dict()
        for name, value in shallow.state_dict().items():  # the first layer's keys and values come first
            value.copy_(deep[name][: len(value)])
        _, low = LevTObjective(shallow, ObjectiveConfig(), ROLL_IN, shape)(tensors(lesson), total)
    torch.testing.assert_close(sums[:3], three)
    torch.testing.assert_close(sums[4:], low[1:])  # the deletion state is filled by the last layer


@pytest.mark.parametrize("joint", [True, False])
def test_what_is_shown_is_not_asked_for(joint: bool) -> None:
    """λ so large that every row with a mistake is shown whole: only rows that were right are learnt from."""
    shape = shape_for(SOURCE, TARGET, roll_in=ROLL_IN, joint=joint, room=3)
    lesson = lesson_of(SOURCE, TARGET, roll_in=ROLL_IN, shape=shape)
    model = network(levt_config())
    total = torch.from_numpy(decisions(lesson)).float()
    with torch.no_grad():
        _, sums = LevTObjective(model, ObjectiveConfig(glance=1e6), ROLL_IN, shape)(tensors(lesson), total)
        _, plain = LevTObjective(model, ObjectiveConfig(), ROLL_IN, shape)(tensors(lesson), total)
    # With these weights no row is filled without a mistake: all is shown, and there is nothing to delete.
    assert sums[2] == 0 < plain[2]
    with torch.no_grad():
        wanted = torch.zeros(())
        for x, y in zip(SOURCE, TARGET, strict=True):
            log_p = model.delete(model.encode(torch.tensor([[1, *x, 2]])), torch.tensor([[1, *y, 2]]))[
                0, 1:-1
            ]
            wanted -= (0.99 * log_p[:, 0] + 0.01 * log_p.mean(-1)).sum()
    torch.testing.assert_close(sums[0], wanted, rtol=1e-4, atol=1e-4)
