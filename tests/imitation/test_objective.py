"""The objective: equal to a slow computation row by row, whatever lies beside a row."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from small_lessons import (
    Rows,
    bounded,
    lesson_of,
    levt_config,
    network,
    noisy,
    rows_of,
    sentences,
    shape_for,
    tensors,
)
from torch import Tensor

from levt.edits.oracle_reference import align_reference
from levt.errors import ConfigError
from levt.imitation.expert import expert_match
from levt.imitation.lesson import Arrays, LessonShape, decisions
from levt.imitation.likelihood import Likelihood, OwnTokens
from levt.imitation.objective import LevTObjective, ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.policy.levt import LevT
from levt.text.specials import PLH, SPECIALS
from packed_rows import packed_rows

SOURCE, TARGET = sentences(7, seed=1), sentences(7, seed=2)
DRAFT = noisy(TARGET, seed=3)
ARGMAX = RollIn(fill="argmax")
CONFIG = ObjectiveConfig(
    label_smoothing=0.1, decision_smoothing=0.02, delete_weight=0.5, placeholder_weight=2.0, token_weight=1.5
)


class Case(NamedTuple):
    lesson: Arrays
    shape: LessonShape
    roll_in: RollIn


def case(
    draft: Rows | None = None, *, roll_in: RollIn = ARGMAX, joint: bool = True, room: int = 0, seed: int = 0
) -> Case:
    shape = shape_for(SOURCE, TARGET, draft, roll_in=roll_in, joint=joint, room=room)
    lesson = lesson_of(SOURCE, TARGET, draft, roll_in=roll_in, shape=shape, seed=seed)
    return Case(lesson, shape, roll_in)


def measured(model: LevT, found: Case, config: ObjectiveConfig = CONFIG) -> tuple[Tensor, Tensor]:
    objective = LevTObjective(model, config, found.roll_in, found.shape)
    loss, sums = objective(tensors(found.lesson), torch.from_numpy(decisions(found.lesson)).float())
    return loss, sums


def smoothed(log_p: Tensor, label: int, smoothing: float) -> Tensor:
    """−(1 − ε) log π(label) − ε/k Σ log π."""
    return -(1 - smoothing) * log_p[label] - smoothing * log_p.mean()


def obvious(model: LevT, found: Case, count: int, *, joint: bool) -> tuple[Tensor, list[int]]:
    """The three sums by looking at one row at a time, padded, without any of the arrays' places."""
    lesson = found.lesson
    if joint:
        both = rows_of(lesson["insert"], lesson["insert_lengths"], 2 * count)
        y_ins, holes = both[0::2], both[1::2]
    else:
        y_ins = rows_of(lesson["kept"], lesson["kept_lengths"], count)
        holes = rows_of(lesson["holes"], lesson["target_lengths"], count)
    deletion = rows_of(lesson["delete"], lesson["delete_lengths"], count)
    sums, counts = torch.zeros(3), [0, 0, 0]
    for i, wanted in enumerate(bounded(TARGET[:count])):
        memory = model.encode(torch.tensor([[1, *SOURCE[i], 2]]))
        # Counts between what stays.
        log_p = model.placeholder(memory, torch.tensor([y_ins[i]]))[0]
        place = [j for j, token in enumerate(holes[i]) if token != PLH]
        for gap, (left, right) in enumerate(itertools.pairwise(place)):
            label = min(right - left - 1, model.config.max_count)
            sums[1] += smoothed(log_p[gap], label, CONFIG.decision_smoothing)
            counts[1] += 1
        # Tokens, as the softmax over everything has them, and the model's own choice.
        states = model.hidden(memory, y := torch.tensor([holes[i]]), _padded(y), "token")
        logits = model.token_logits(states)[0]
        filled = list(holes[i])
        for j, token in enumerate(holes[i]):
            if token == PLH:
                sums[2] += smoothed(logits[j].log_softmax(-1), wanted[j], CONFIG.label_smoothing)
                counts[2] += 1
                filled[j] = int(logits[j, len(SPECIALS) :].argmax()) + len(SPECIALS)
        # Deletions of a draft or of the filled state, as the obvious oracle wants them.
        y_del = filled if PLH in deletion[i] else deletion[i]
        log_p = model.delete(memory, torch.tensor([y_del]))[0]
        match = align_reference(y_del, wanted)
        for j in range(1, len(y_del) - 1):
            sums[0] += smoothed(log_p[j], int(match[j] < 0), CONFIG.decision_smoothing)
            counts[0] += 1
    return sums, counts


def _padded(y: Tensor) -> Any:
    from levt.policy.layout import Padded

    return Padded.of(y)


@pytest.mark.parametrize(
    ("fields", "joint"),
    [
        ({}, True),
        ({}, False),
        ({"norm": "pre"}, True),
        ({"sharing": "plh+tok"}, True),
        ({"sharing": "none", "delete_exit": 1, "placeholder_exit": 2}, False),
        ({"sharing": "tok+del"}, False),
        ({"placeholder_exit": 1, "delete_exit": 2}, False),
    ],
)
@pytest.mark.parametrize("drafts", [False, True])
def test_equals_the_obvious(fields: dict[str, Any], joint: bool, drafts: bool) -> None:
    model = network(levt_config(**fields))
    found = case(DRAFT if drafts else None, joint=joint, room=5)
    with torch.no_grad():
        loss, sums = measured(model, found)
        wanted, counts = obvious(model, found, len(TARGET), joint=joint)
    torch.testing.assert_close(sums, wanted, rtol=1e-4, atol=1e-4)
    assert decisions(found.lesson).tolist() == counts
    weights = torch.tensor([0.5, 2.0, 1.5])
    torch.testing.assert_close(loss, (weights * wanted / torch.tensor(counts)).sum(), rtol=1e-4, atol=1e-4)


def test_corrupted_targets_equal_the_obvious() -> None:
    model = network(levt_config())
    found = case(roll_in=RollIn(deletion="noise", noise=0.4, fill="argmax"))
    with torch.no_grad():
        _, sums = measured(model, found)
        wanted, _ = obvious(model, found, len(TARGET), joint=True)
    torch.testing.assert_close(sums, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("drafts", [False, True])
def test_one_pass_or_two_give_the_same_losses_and_gradients(drafts: bool) -> None:
    """Joint arrays and arrays apart are the same lesson; towers apart with equal weights are one tower."""
    draft = DRAFT if drafts else None
    one, apart = network(levt_config()), network(levt_config(sharing="none"))
    shared = dict(one.named_parameters())
    with torch.no_grad():
        for name, parameter in apart.named_parameters():
            for own in ("delete", "placeholder", "token"):
                name = name.replace(f"decoders.{own}.", "decoders.delete_placeholder_token.")
            parameter.copy_(shared[name])
    gradients = []
    for model, joint in ((one, True), (one, False), (apart, False)):
        model.zero_grad()
        loss, sums = measured(model, case(draft, joint=joint))
        assert not sums.requires_grad
        loss.backward()
        table = model.target_tokens.weight.grad.clone()
        gradients.append((sums, table))
    for sums, table in gradients[1:]:
        torch.testing.assert_close(sums, gradients[0][0])
        torch.testing.assert_close(table, gradients[0][1], rtol=1e-4, atol=1e-6)


def test_padding_and_empty_rows_do_not_matter() -> None:
    model = network(levt_config())
    tight, loose = (measured(model, case(DRAFT, room=room)) for room in (0, 300))
    torch.testing.assert_close(tight[0], loose[0])
    torch.testing.assert_close(tight[1], loose[1])
    gradients = []
    for room in (0, 300):
        model.zero_grad()
        measured(model, case(DRAFT, room=room))[0].backward()
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("drafts", [False, True])
def test_two_halves_have_the_gradient_of_the_whole(drafts: bool) -> None:
    """Losses are means over the decisions of the global batch, however it is cut."""
    draft = DRAFT if drafts else None
    # Nothing is left to chance: empty canvases, or drafts after oracle deletion.
    roll_in = RollIn(alpha=1.0, beta=1.0, empty=1.0, fill="argmax")
    model = network(levt_config())
    whole = shape_for(SOURCE, TARGET, draft, roll_in=roll_in, joint=True)
    halves = []
    for part in (slice(None), slice(3), slice(3, None)):
        rows = None if draft is None else draft[part]
        halves.append(lesson_of(SOURCE[part], TARGET[part], rows, roll_in=roll_in, shape=whole))
    objective = LevTObjective(model, CONFIG, roll_in, whole)
    total = torch.from_numpy(decisions(halves[0])).float()
    assert (decisions(halves[1]) + decisions(halves[2])).tolist() == decisions(halves[0]).tolist()
    found = []
    for lessons in (halves[:1], halves[1:]):
        model.zero_grad()
        sums = torch.zeros(3)
        for lesson in lessons:
            loss, part_sums = objective(tensors(lesson), total)
            loss.backward()
            sums += part_sums
        found.append((sums, torch.cat([p.grad.flatten() for p in model.parameters()])))
    torch.testing.assert_close(found[0][0], found[1][0])
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-4, atol=1e-6)


def test_no_gradient_flows_through_the_model_s_own_tokens() -> None:
    """What y_del is made of is a choice, not a value: the deletion loss alone moves no token output."""
    model = network(levt_config(joint_embeddings=False, tie_output=False))
    config = ObjectiveConfig(token_weight=0.0, placeholder_weight=0.0)
    loss, _ = measured(model, case(), config)
    loss.backward()
    output = [p.grad for name, p in model.named_parameters() if "output" in name]
    assert output
    assert all(gradient is None or not gradient.any() for gradient in output)


def test_the_expert_s_deletions_of_packed_rows() -> None:
    y, target = bounded(DRAFT), bounded(TARGET)
    flat_y, rows = packed_rows(y, total=200, count=12, longest=20)
    flat_target, target_rows = packed_rows(target, total=150, count=12, longest=20)
    drop = (expert_match(flat_y, rows, flat_target, target_rows) < 0).tolist()
    wanted = [j < 0 for a, b in zip(y, target, strict=True) for j in align_reference(a, b)]
    assert drop[: len(wanted)] == wanted


@pytest.mark.parametrize("sample", [True, False])
def test_a_symbol_is_never_chosen(sample: bool) -> None:
    logits = torch.randn(500, 30)
    logits[:, : len(SPECIALS)] = 50.0
    chosen = OwnTokens(sample=sample)(logits)
    assert chosen.min() >= len(SPECIALS)
    if not sample:
        assert chosen.tolist() == (logits[:, 5:].argmax(-1) + 5).tolist()


def test_samples_follow_the_policy() -> None:
    torch.manual_seed(3)
    logits = torch.tensor([9.0, 9.0, 9.0, 9.0, 9.0, 0.0, 1.0, 2.0, -30.0])
    chosen = OwnTokens(sample=True)(logits.expand(40_000, -1))
    shares = np.bincount(chosen.numpy(), minlength=9) / 40_000
    wanted = logits[5:].softmax(-1).numpy()
    assert np.abs(shares[5:] - wanted).max() < 0.012
    assert shares[8] == 0


def test_likelihood_counts_no_padding_and_is_exact_in_half_precision() -> None:
    logits = torch.randn(6, 11)
    labels = torch.tensor([3, -1, 0, 10, -1, 5])
    wanted = sum(
        smoothed(logits[i].log_softmax(-1), int(label), 0.1) for i, label in enumerate(labels) if label >= 0
    )
    torch.testing.assert_close(Likelihood(0.1)(logits, labels), wanted)
    half = logits.bfloat16()
    torch.testing.assert_close(Likelihood(0.1)(half, labels), Likelihood(0.1)(half.float(), labels))


def test_an_empty_lesson_has_no_loss_and_no_gradient() -> None:
    model = network(levt_config())
    shape = shape_for(SOURCE, TARGET, roll_in=ARGMAX, joint=True)
    lesson = lesson_of([], [], roll_in=ARGMAX, shape=shape)
    objective = LevTObjective(model, CONFIG, ARGMAX, shape)
    loss, sums = objective(tensors(lesson), torch.zeros(3))
    loss.backward()
    assert loss == 0
    assert sums.tolist() == [0, 0, 0]
    assert all(p.grad is None or not p.grad.any() for p in model.parameters())
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_bad_values_are_named_together() -> None:
    with pytest.raises(ConfigError, match="2 problems"):
        ObjectiveConfig(label_smoothing=1.0, token_weight=-1.0)
    with pytest.raises(ConfigError, match="delete_weight must be finite, got inf"):
        ObjectiveConfig(delete_weight=float("inf"))
