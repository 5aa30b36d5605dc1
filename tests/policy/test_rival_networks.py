"""MaskT, IT and the Insertion Transformer as networks: packed equals padded, batch mates change nothing."""

from typing import Any

import pytest
import torch
from small_networks import SMALL, VOCABULARY, network, pad, sentences, unpadded
from torch import Tensor

from levt.errors import ConfigError
from levt.policy.denoising import DenoisingConfig, spread
from levt.policy.insertion import InsertionConfig
from levt.policy.layout import Layout, Padded
from levt.policy.length import LengthPolicy, source_lengths
from levt.policy.masked import MaskedConfig
from packed_rows import packed_rows

KINDS: dict[str, Any] = {
    "masked": MaskedConfig(**SMALL),
    "masked-relative": MaskedConfig(**SMALL, relative_length=True),
    "denoising": DenoisingConfig(**SMALL),
    "denoising-shared": DenoisingConfig(**SMALL, share_decoders=True, relative_length=False),
    "denoising-separate": DenoisingConfig(**SMALL, joint_embeddings=False),
    "insertion": InsertionConfig(**SMALL),
}
SOURCE, TARGET = sentences(6, seed=1, least=1), sentences(6, seed=2, placeholders=True)


def states(model: Any, x: Tensor, y: Tensor, here: Layout, there: Layout) -> list[Tensor]:
    """Everything that a network computes from a source and a state."""
    memory = model.encode(x, here)
    stages = [("draft",), ("refine",)] if "denoising" in model.config.kind else [()]
    return [model.hidden(memory, y, there, *stage) for stage in stages]


@pytest.mark.parametrize("kind", KINDS)
def test_packed_equals_padded(kind: str) -> None:
    model = network(KINDS[kind])
    x, y = pad(SOURCE), pad(TARGET)
    flat_x, here = packed_rows(SOURCE, total=70, count=8, longest=16)
    flat_y, there = packed_rows(TARGET, total=70, count=8, longest=16)
    for wide, flat in zip(
        states(model, x, y, Padded.of(x), Padded.of(y)),
        states(model, flat_x, flat_y, here, there),
        strict=True,
    ):
        torch.testing.assert_close(
            unpadded(wide, TARGET), flat[: sum(map(len, TARGET))], rtol=1e-4, atol=1e-5
        )
    if kind != "insertion":
        wide, flat = (model.length_policy(m) for m in (model.encode(x), model.encode(flat_x, here)))
        torch.testing.assert_close(wide, flat[: len(SOURCE)], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_batch_mates_and_padding_change_nothing(kind: str) -> None:
    model = network(KINDS[kind])
    together = states(
        model, pad(SOURCE, 20), pad(TARGET, 19), *map(Padded.of, (pad(SOURCE, 20), pad(TARGET, 19)))
    )
    for i, (source, target) in enumerate(zip(SOURCE, TARGET, strict=True)):
        x, y = torch.tensor([source]), torch.tensor([target])
        for all_rows, alone in zip(together, states(model, x, y, Padded.of(x), Padded.of(y)), strict=True):
            torch.testing.assert_close(all_rows[i, : len(target)], alone[0], rtol=1e-4, atol=1e-5)


def test_what_is_never_produced() -> None:
    x, y = pad(SOURCE), pad(TARGET)
    masked, it, insertion = (network(KINDS[kind]) for kind in ("masked", "denoising", "insertion"))
    for logp in (
        masked.token(masked.encode(x), y),
        it.token(it.encode(x), y, "draft"),
        it.token(it.encode(x), y, "refine"),
    ):
        assert logp.shape == (*y.shape, VOCABULARY)
        assert logp[..., [0, 1, 2, 4]].eq(float("-inf")).all()
        assert logp[..., 5:].isfinite().all()
    logp = insertion.gap(insertion.encode(x), y)
    assert logp.shape == (y.shape[0], y.shape[1] - 1, VOCABULARY)
    assert logp[..., [0, 1, 4]].eq(float("-inf")).all()
    assert logp[..., 2].isfinite().all()


def test_a_gap_sees_both_neighbours() -> None:
    model = network(KINDS["insertion"])
    memory = model.encode(pad(SOURCE[:1]))
    y = torch.tensor([[1, 7, 8, 2]])
    h = model.hidden(memory, y, Padded.of(y))[0]
    wanted = model.token_logits(model.join(torch.cat([h[1], h[2]])))
    wanted[4] = float("-inf")
    found = model.gap(memory, y)[0, 1]
    torch.testing.assert_close(found[5:], wanted.log_softmax(-1)[5:], rtol=1e-4, atol=1e-5)


def test_a_relative_length_moves_with_the_source() -> None:
    model = network(MaskedConfig(**SMALL, relative_length=True))
    policy = model.length_policy
    assert isinstance(policy, LengthPolicy)
    memory = model.encode(pad(SOURCE))
    assert source_lengths(memory).tolist() == [len(row) - 2 for row in SOURCE]
    logits, raw = policy(memory).tolist(), (memory.states[:, 0] @ policy.head.T).tolist()
    for i, row in enumerate(SOURCE):
        for length in range(policy.longest + 1):
            difference = length - (len(row) - 2)
            assert logits[i][length] == pytest.approx(raw[i][policy.longest + difference], abs=1e-4)


def test_spread_takes_every_source_token_in_turn() -> None:
    rows = [[1, 11, 12, 13, 2], [1, 14, 2], [1, 2]]
    found = spread(pad(rows), torch.tensor([2, 3, 2]), 6)
    assert found.tolist() == [[1, 11, 12, 2, 0, 0], [1, 14, 14, 14, 2, 0], [1, 3, 3, 2, 0, 0]]
    for length in range(1, 12):
        inner = spread(pad(rows[:1]), torch.tensor([length]), 14)[0, 1 : length + 1].tolist()
        assert inner == [rows[0][1 + t * 3 // length] for t in range(length)]


def test_shared_decoders_are_one() -> None:
    one, two = network(KINDS["denoising-shared"]), network(KINDS["denoising"])
    assert one.tower("draft") is one.tower("refine")
    assert two.tower("draft") is not two.tower("refine")


def test_a_source_that_the_decoder_could_not_read_is_refused() -> None:
    with pytest.raises(ConfigError, match="encoder_width must be width"):
        DenoisingConfig(**SMALL, encoder_width=32, joint_embeddings=False)
