"""The network of LevT: packed equals padded, batch mates change nothing, towers and exits do what they are to."""

from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_networks import VOCABULARY, levt_config, network, pad, sentences, unpadded
from torch import Tensor
from torch.nn import functional as F

from levt.errors import InputError
from levt.policy.build import build
from levt.policy.config import POLICIES, TOWERS, LevTConfig
from levt.policy.decoder import Tower
from levt.policy.layout import Padded
from levt.policy.scores import NEVER_PRODUCED
from packed_rows import packed_rows

VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "pre-norm": {"norm": "pre"},
    "learned": {"positions": "learned"},
    "apart": {"sharing": "plh+tok", "delete_exit": 1, "placeholder_exit": 2},
    "uneven": {
        "joint_embeddings": False,
        "source_vocabulary": VOCABULARY + 4,
        "tie_output": False,
        "encoder_width": 12,
        "encoder_heads": 3,
        "encoder_norm": "pre",
        "encoder_positions": "learned",
        "encoder_normalise_embedding": True,
        "activation": "gelu",
        "scale_embedding": False,
    },
}


def all_policies(model: Any, x: Tensor, y: Tensor) -> list[Tensor]:
    memory = model.encode(x)
    everywhere = torch.ones_like(y, dtype=torch.bool)
    token = model.token(memory, y, everywhere).view(*y.shape, -1)
    return [model.delete(memory, y), model.placeholder(memory, y), token]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", [1, 2, 7, 64])
@torch.no_grad()
def test_batch_mates_and_padding_change_nothing(variant: str, size: int) -> None:
    model = network(levt_config(**VARIANTS[variant]))
    sources, states = sentences(size, seed=1), sentences(size, seed=2, placeholders=True)
    together = all_policies(model, pad(sources, 17), pad(states, 14))
    for i in range(0, size, 1 + size // 7):
        source, state = sources[i], states[i]
        alone = all_policies(model, pad([source]), pad([state]))
        for policy, whole, single in zip(POLICIES, together, alone, strict=True):
            n = len(state) - (policy == "placeholder")
            torch.testing.assert_close(whole[i, :n], single[0], rtol=1e-5, atol=1e-5)
            assert torch.equal(whole[i, :n].argmax(-1), single[0].argmax(-1))


@pytest.mark.parametrize("variant", VARIANTS)
@torch.no_grad()
def test_packed_is_padded(variant: str) -> None:
    model = network(levt_config(**VARIANTS[variant]))
    sources, states = sentences(5, seed=3), sentences(5, seed=4, placeholders=True)
    x, x_layout = packed_rows(sources, total=70, count=6, longest=13)
    y, y_layout = packed_rows(states, total=65, count=6, longest=11)
    memory, flat = model.encode(pad(sources)), model.encode(x, x_layout)
    for policy in POLICIES:
        expected = model.hidden(memory, pad(states), Padded.of(pad(states)), policy)
        got = model.hidden(flat, y, y_layout, policy)
        assert got.isfinite().all()
        real = unpadded(expected, states)
        torch.testing.assert_close(got[: len(real)], real, rtol=1e-5, atol=1e-5)
    gaps = model.placeholder_logits(got)
    row = slice(int(y_layout.offsets[2]), int(y_layout.offsets[3]) - 1)
    torch.testing.assert_close(
        gaps[row], model.placeholder_logits(expected[2])[: len(states[2]) - 1], rtol=1e-5, atol=1e-5
    )


@torch.no_grad()
def test_two_states_of_one_source_share_its_memory() -> None:
    model = network(levt_config())
    sources, states = sentences(4, seed=5), sentences(8, seed=6, placeholders=True)
    twice = model.encode(pad([row for row in sources for _ in range(2)]))
    expected = model.hidden(twice, pad(states), Padded.of(pad(states)), "token")
    got = model.hidden(model.encode(pad(sources)), pad(states), Padded.of(pad(states)), "token")
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
    x, x_layout = packed_rows(sources, total=50)
    y, y_layout = packed_rows(states, total=90)
    flat = model.hidden(model.encode(x, x_layout), y, y_layout, "token")
    real = unpadded(expected, states)
    torch.testing.assert_close(flat[: len(real)], real, rtol=1e-5, atol=1e-5)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
@torch.no_grad()
def test_rows_of_the_memory_can_leave(rows: list[int]) -> None:
    model = network(levt_config(sharing="none"))
    sources, states = sentences(5, seed=7), sentences(5, seed=8)
    kept = model.encode(pad(sources)).select(torch.tensor(rows))
    whole = model.delete(model.encode(pad(sources)), pad(states))
    got = model.delete(kept, pad(states)[rows])
    assert kept.rows == len(rows)
    for i, row in enumerate(rows):
        n = len(states[row])
        torch.testing.assert_close(got[i, :n], whole[row, :n], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("exits", [(1, 2, 3), (3, 1, 2), (None, None, None)])
@pytest.mark.parametrize("sharing", TOWERS)
@torch.no_grad()
def test_blocks_above_an_exit_do_not_run(sharing: Any, exits: tuple[int | None, ...]) -> None:
    config = levt_config(
        sharing=sharing, delete_exit=exits[0], placeholder_exit=exits[1], token_exit=exits[2]
    )
    model = network(config)
    ran: Counter[str] = Counter()
    for name, tower in model.decoders.items():
        for block in tower.blocks:
            block.register_forward_hook(lambda *_, name=name: ran.update([name]))
    memory = model.encode(pad(sentences(2)))
    for policy, depth in zip(POLICIES, exits, strict=True):
        ran.clear()
        y = pad(sentences(2, seed=1))
        model.hidden(memory, y, Padded.of(y), policy)
        assert ran == {model.towers[policy].name: depth or 3}
    assert len(model.decoders) == len(TOWERS[sharing])


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("depth", [1, 2])
def test_an_exit_is_the_top_of_a_lower_tower(norm: Any, depth: int) -> None:
    """What leaves early is what a tower of that depth gives: it is normalised as at the top."""
    deep = network(levt_config(norm=norm, delete_exit=depth))
    low = network(levt_config(norm=norm, decoder_layers=depth), seed=1)
    known = deep.state_dict()
    with torch.no_grad():
        for name, own in low.state_dict().items():
            # The keys and values of all layers are one matrix, the first layers first.
            own.copy_(known[name][: len(own)])
    x, y = pad(sentences(3)), pad(sentences(3, seed=1))
    found, wanted = (m.hidden(m.encode(x), y, Padded.of(y), "delete") for m in (deep, low))
    torch.testing.assert_close(found, wanted)
    top = deep.hidden(deep.encode(x), y, Padded.of(y), "token")
    assert not torch.allclose(found, top, atol=0.1)


def expected_parameters(c: LevTConfig) -> int:
    d, f, v = c.width, c.hidden, c.target_vocabulary
    attention, norm, feed = 4 * d * (d + 1), 2 * d, f * (d + 1) + d * (f + 1)
    blocks = sum(c.depths.values())
    encoder = c.encoder_layers * (attention + feed + 2 * norm)
    return v * d + encoder + blocks * (2 * attention + feed + 3 * norm) + 2 * d + (c.max_count + 1) * 2 * d


@pytest.mark.parametrize("sharing", TOWERS)
@pytest.mark.parametrize("exits", [{}, {"delete_exit": 1}, {"delete_exit": 2, "placeholder_exit": 1}])
def test_number_of_parameters(sharing: Any, exits: dict[str, int]) -> None:
    config = levt_config(sharing=sharing, **exits)
    assert sum(p.numel() for p in network(config).parameters()) == expected_parameters(config)


@pytest.mark.parametrize("sharing", TOWERS)
def test_gradients_reach_the_tower_of_the_policy_alone(sharing: Any) -> None:
    model = network(levt_config(sharing=sharing, delete_exit=2, norm="pre"))
    x, y = pad(sentences(3)), pad(sentences(3, seed=1))
    heads = {
        "delete": model.delete_logits,
        "placeholder": model.placeholder_logits,
        "token": model.token_logits,
    }
    for policy in POLICIES:
        model.zero_grad()
        h = model.hidden(model.encode(x), y, Padded.of(y), policy)
        heads[policy](h).pow(2).sum().backward()
        for group in TOWERS[sharing]:
            tower: Tower = model.decoders["_".join(group)]
            exit_here = 2 if policy == "delete" else 3
            for i, block in enumerate(tower.blocks):
                reached = [p.grad is not None and bool(p.grad.any()) for p in block.parameters()]
                assert any(reached) == (policy in group and i < exit_here)
            assert (tower.memory.weight.grad is not None) == (policy in group)
        assert (model.delete_head.grad is not None) == (policy == "delete")
        assert (model.placeholder_head.grad is not None) == (policy == "placeholder")
        assert model.target_tokens.weight.grad.any()
        assert all(p.grad is not None for p in model.encoder.parameters())


@torch.no_grad()
def test_policies_are_distributions_and_some_symbols_are_never_written() -> None:
    model = network(levt_config())
    y = pad(sentences(3, placeholders=True))
    delete, placeholder, token = all_policies(model, pad(sentences(3)), y)
    for policy in (delete, placeholder):
        torch.testing.assert_close(policy.exp().sum(-1), torch.ones(policy.shape[:-1]))
    assert token[..., list(NEVER_PRODUCED)].eq(float("-inf")).all()
    h = model.hidden(model.encode(pad(sentences(3))), y, Padded.of(y), "token")
    logits = model.token_logits(h)
    without = torch.cat([logits[..., :4], logits[..., 5:]], -1).log_softmax(-1)
    torch.testing.assert_close(token[..., 5:], without[..., 4:])
    torch.testing.assert_close(logits, F.linear(h, model.target_tokens.weight))


def test_too_long_a_sentence_is_refused() -> None:
    model = network(levt_config(max_length=8))
    with pytest.raises(InputError, match="at most 8 tokens"):
        model.encode(pad([[1, *[7] * 7, 2]]))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_few_pairs_can_be_learnt(norm: Any) -> None:
    torch.manual_seed(0)
    model: Any = build(
        levt_config(norm=norm, width=32, hidden=64, dropout=0.0, encoder_layers=1, decoder_layers=2)
    )
    sources = sentences(4, seed=1, least=4, most=6)
    states = [[1, *[4] * (len(row) - 2), 2] for row in sentences(4, seed=9, least=4, most=6)]
    goal = torch.randint(5, VOCABULARY, pad(states).shape)
    hole = pad(states).eq(4)
    optimiser = torch.optim.Adam(model.parameters(), 2e-3)
    for _ in range(250):
        h = model.hidden(model.encode(pad(sources)), pad(states), Padded.of(pad(states)), "token")
        loss = F.cross_entropy(model.token_logits(h[hole]), goal[hole])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss.item() < 0.05


def test_fresh_states_are_of_the_size_of_one() -> None:
    torch.manual_seed(1)
    model: Any = build(levt_config(width=64, heads=4, hidden=128)).eval()
    y = pad(sentences(8, least=6, placeholders=True))
    x = model.embed_target(y, Padded.of(y))
    assert 0.7 < x.std().item() < 1.7
    logits = model.token_logits(model.hidden(model.encode(y), y, Padded.of(y), "token"))
    assert 0.3 < logits.std().item() < 3


@pytest.mark.parametrize("norm", ["post", "pre"])
@torch.no_grad()
def test_half_precision_is_kept_throughout(norm: Any) -> None:
    model = network(levt_config(norm=norm))
    x, y = pad(sentences(3)), pad(sentences(3, seed=1))
    exact = model.hidden(model.encode(x), y, Padded.of(y), "token")
    seen = set()
    for module in model.modules():
        module.register_forward_hook(lambda _, __, out: seen.add(out.dtype))
    with torch.autocast("cpu", torch.bfloat16):
        half = model.hidden(model.encode(x), y, Padded.of(y), "token")
    assert seen == {torch.bfloat16}
    torch.testing.assert_close(half.float(), exact, rtol=0.1, atol=0.1)
