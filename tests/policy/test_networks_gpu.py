"""The networks on a GPU: the variable-length kernel, its unwritten tail, and captured graphs."""

from typing import Any

import pytest
import torch
from small_networks import VOCABULARY, autoregressive_config, levt_config, network, pad, sentences, unpadded
from torch.nn import functional as F

from levt.policy import short_attention
from levt.policy.attention import PackedPattern, varlen_attn
from levt.policy.config import POLICIES
from levt.policy.layout import Packed, Padded
from packed_rows import packed_rows

pytestmark = pytest.mark.gpu
WIDE: dict[str, Any] = {"width": 64, "hidden": 96, "heads": 4}


def poison() -> None:
    """Leave NaN in the memory that the next kernels are given."""
    for size in (1 << 10, 1 << 14, 1 << 18, 1 << 22):
        blocks = [torch.full((size,), float("nan"), device="cuda") for _ in range(16)]
        del blocks


def test_the_kernels_are_there() -> None:
    assert varlen_attn is not None
    assert short_attention.HAVE_TRITON


@pytest.mark.parametrize("kernel", ["short", "torch"])
@pytest.mark.parametrize(
    ("longest", "copies", "causal"),
    [
        (9, 1, True),
        (30, 2, False),
        (100, 1, True),
        (128, 3, False),
        (129, 1, True),
        (300, 1, True),
        (300, 2, False),
    ],
)
@pytest.mark.parametrize("head", [16, 64])
def test_kernels_give_what_padding_gives(
    kernel: str, longest: int, copies: int, causal: bool, head: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_attention, "LONGEST", 0 if kernel == "torch" else longest)
    torch.manual_seed(longest)
    asked = torch.randint(0, longest + 1, (6 * copies,)).cuda()
    asked[0] = longest
    seen = asked if causal else torch.randint(1, longest + 1, (6,)).cuda()
    queries = Packed.of(asked, int(asked.sum()) + 150, longest)
    keys = queries if causal else Packed.of(seen, int(seen.sum()) + 140, longest)
    look = PackedPattern(queries.grouped(copies), keys, causal)
    fused = torch.randn(queries.row.shape[0], 3, 2, head, device="cuda")
    memory = torch.randn(keys.row.shape[0], 2, 2, head, device="cuda")
    slope = torch.linspace(-1, 1, head, device="cuda").bfloat16()
    results = []
    for dtype in (torch.float32, torch.bfloat16):
        # bfloat16 numbers in both, so that only the kernels differ; views with strides, as in the network.
        a = fused.bfloat16().to(dtype).requires_grad_()
        m = memory.bfloat16().to(dtype).requires_grad_()
        q, k, v = queries.clean(a).unbind(1)
        if not causal:
            k, v = keys.clean(m).unbind(1)
        poison()
        out = look.attend(q, k, v)
        poison()
        (out * slope.to(dtype)).sum().backward()
        results.append([x.float() for x in (out, a.grad, m.grad) if x is not None])
    for exact, half in zip(*results, strict=True):
        assert half.isfinite().all()
        torch.testing.assert_close(half, exact, rtol=0.03, atol=0.03)


@torch.no_grad()
def test_packed_in_half_precision_is_padded() -> None:
    model = network(levt_config(**WIDE)).cuda().bfloat16()
    sources, states = sentences(5, seed=3), sentences(10, seed=4, placeholders=True)
    x, x_layout = packed_rows(sources, total=70, count=6, longest=13, device="cuda")
    y, y_layout = packed_rows(states, total=130, count=12, longest=11, device="cuda")
    memory = model.encode(pad(sources).cuda())
    poison()
    flat = model.encode(x, x_layout)
    for policy in POLICIES:
        rows = pad(states).cuda()
        expected = unpadded(model.hidden(memory, rows, Padded.of(rows), policy), states)
        got = model.hidden(flat, y, y_layout, policy)
        assert got.isfinite().all()
        torch.testing.assert_close(got[: len(expected)], expected, rtol=0.05, atol=0.05)


@torch.no_grad()
def test_causal_packed_in_half_precision_is_padded() -> None:
    model = network(autoregressive_config(**WIDE)).cuda().bfloat16()
    rows = sentences(5, seed=5, least=3)
    y, layout = packed_rows(rows, total=70, count=6, longest=13, device="cuda")
    expected = unpadded(model.logits(model.encode(pad(rows).cuda()), pad(rows).cuda()), rows)
    got = model.logits(model.encode(y, layout), y, layout)
    torch.testing.assert_close(got[: len(expected)], expected, rtol=0.05, atol=0.1)


def gradients(model: Any, packed: bool) -> dict[str, torch.Tensor]:
    sources, states = sentences(5, seed=6), sentences(5, seed=7, least=2)
    model.zero_grad()
    goal = torch.cat([torch.tensor(row) for row in states]).cuda() % VOCABULARY
    with torch.autocast("cuda", torch.bfloat16):
        if packed:
            x, x_layout = packed_rows(sources, total=90, count=8, longest=13, device="cuda")
            y, y_layout = packed_rows(states, total=90, count=8, longest=13, device="cuda")
            poison()
            h = model.hidden(model.encode(x, x_layout), y, y_layout, "token")[: len(goal)]
        else:
            rows = pad(states).cuda()
            h = unpadded(
                model.hidden(model.encode(pad(sources).cuda()), rows, Padded.of(rows), "token"), states
            )
        loss = F.cross_entropy(model.token_logits(h).float(), goal)
    poison()
    loss.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def test_the_unwritten_tail_reaches_no_gradient() -> None:
    model = network(levt_config(**WIDE)).cuda()
    expected, got = gradients(model, packed=False), gradients(model, packed=True)
    assert expected.keys() == got.keys()
    for name, gradient in got.items():
        assert gradient.isfinite().all(), name
        scale = expected[name].abs().max().clamp(min=1e-2)
        assert (gradient - expected[name]).abs().max() < 0.1 * scale, name


@torch.no_grad()
def test_a_captured_step_writes_what_the_step_writes() -> None:
    model = network(autoregressive_config(**WIDE)).cuda()
    memory = model.encode(pad(sentences(3)).cuda())
    y = torch.tensor(sentences(3, seed=2, least=6, most=6)).cuda()
    expected = model.logits(memory, y)
    cache, tokens = model.start(memory, 12), y[:, 0].clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        model.step(memory, tokens, cache)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        logits = model.step(memory, tokens, cache)
    cache.copy_(model.start(memory, 12))
    for i in range(y.shape[1]):
        tokens.copy_(y[:, i])
        graph.replay()
        torch.testing.assert_close(logits, expected[:, i], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("policy", POLICIES)
@torch.no_grad()
def test_policies_can_be_captured(policy: str) -> None:
    model = network(levt_config(**WIDE)).cuda()
    memory = model.encode(pad(sentences(3)).cuda())
    y = pad(sentences(3, seed=2, placeholders=True)).cuda()
    ask = getattr(model, policy)
    expected = ask(memory, y)
    canvas = torch.zeros_like(y)
    canvas[:, 0], canvas[:, 1] = 1, 2
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        ask(memory, canvas)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scores = ask(memory, canvas)
    canvas.copy_(y)
    graph.replay()
    torch.testing.assert_close(scores, expected, rtol=1e-4, atol=1e-4)
