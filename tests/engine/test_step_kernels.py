"""The kernels of a step do what plain torch does; on a GPU, or on a CPU by the interpreter (TRITON_INTERPRET=1)."""

import os

import pytest
import torch

from levt.edits.kernels import HAVE_TRITON
from levt.edits.state import State
from levt.engine import static_edits, step_ops
from levt.engine.static_edits import Frame
from levt.engine.step_ops import Hypotheses

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

pytestmark = [
    *([] if INTERPRETED else [pytest.mark.gpu]),
    pytest.mark.skipif(not HAVE_TRITON or (DEVICE == "cpu" and not INTERPRETED), reason="no GPU"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the interpreter computes with numpy
]


def hypotheses(b: int, k: int, w: int, v: int, position: int) -> Hypotheses:
    so_far = torch.randn(b, k, device=DEVICE).sort(1, descending=True).values
    so_far[0, 1:] = float("-inf")
    return Hypotheses(
        tokens=torch.zeros(b * k, dtype=torch.long, device=DEVICE),
        so_far=so_far,
        origin=torch.randint(0, k, (b * k, w), device=DEVICE)
        + torch.arange(b, device=DEVICE).repeat_interleave(k).unsqueeze(1) * k,
        position=torch.tensor([position], device=DEVICE),
        limit=torch.tensor([w + 1] * (b - 1) + [position + 2], device=DEVICE),
        values=torch.zeros(w, b, 2 * k, device=DEVICE),
        places=torch.zeros(w, b, 2 * k, dtype=torch.long, device=DEVICE),
    )


def copied(state: Hypotheses) -> Hypotheses:
    return Hypotheses(**{name: tensor.clone() for name, tensor in vars(state).items()})


@pytest.mark.parametrize(("b", "k", "v"), [(1, 1, 30), (2, 1, 2500), (3, 4, 1500), (1, 4, 40)])
def test_the_best_go_on(b: int, k: int, v: int) -> None:
    from levt.engine import step_kernels

    for seed in range(6):
        torch.manual_seed(seed)
        state = hypotheses(b, k, 16, v, seed * 2)
        logits = torch.randn(b * k, v, device=DEVICE) * 3
        if seed == 5:
            logits[0, 7] = float("nan")
        one, other = copied(state), copied(state)
        step_ops.advance(one, logits)
        step_kernels.advance(other, logits)
        finite = one.values.isfinite()
        assert torch.equal(finite, other.values.isfinite())
        torch.testing.assert_close(one.values[finite], other.values[finite])
        assert torch.equal(one.places[finite], other.places[finite])
        assert torch.equal(one.position, other.position)
        alive = one.so_far.isfinite()
        torch.testing.assert_close(one.so_far, other.so_far)
        assert torch.equal(one.tokens.view(b, k)[alive], other.tokens.view(b, k)[alive])
        assert torch.equal(one.origin.view(b, k, -1)[alive], other.origin.view(b, k, -1)[alive])
        assert int(other.tokens.max()) < v


@pytest.mark.parametrize(("r", "h", "w", "e"), [(1, 2, 8, 16), (4, 2, 40, 24), (6, 1, 70, 64)])
def test_looking_back(r: int, h: int, w: int, e: int) -> None:
    from levt.engine import step_kernels

    torch.manual_seed(r)
    for position in (0, 1, w // 2, w - 1):
        kv = torch.randn(2, r, h, w, e, device=DEVICE)
        origin = torch.randint(0, r, (r, w), device=DEVICE)
        origin[:, position] = torch.arange(r, device=DEVICE)
        qkv, at = torch.randn(r, 3 * h * e, device=DEVICE), torch.tensor([position], device=DEVICE)
        mine, theirs = kv.clone(), kv.clone()
        expected = step_ops.attend_step(qkv, mine, origin, at)
        torch.testing.assert_close(
            step_kernels.attend_step(qkv, theirs, origin, at), expected, atol=1e-5, rtol=1e-5
        )
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize(("b", "k", "s"), [(1, 1, 5), (2, 4, 33), (3, 1, 70)])
def test_looking_at_the_memory(b: int, k: int, s: int) -> None:
    from levt.engine import step_kernels

    torch.manual_seed(s)
    h, e = 2, 16
    kv = torch.randn(b, s, 3, 2, h, e, device=DEVICE)[:, :, 1]
    real = torch.rand(b, s, device=DEVICE) < 0.7
    real[:, 0] = True
    q = torch.randn(b * k, h * e, device=DEVICE)
    torch.testing.assert_close(
        step_kernels.attend_memory(q, kv, real), step_ops.attend_memory(q, kv, real), atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("d", [8, 48, 512])
def test_sum_and_norm(d: int) -> None:
    from levt.engine import step_kernels

    torch.manual_seed(d)
    x, inner, weight, bias = (torch.randn(*shape, device=DEVICE) for shape in ((3, d), (3, d), (d,), (d,)))
    for one, other in zip(
        step_kernels.add_norm(x, inner, weight, bias, 1e-5),
        step_ops.add_norm(x, inner, weight, bias, 1e-5),
        strict=True,
    ):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_filling_some_places() -> None:
    from levt.engine import edit_kernels

    torch.manual_seed(0)
    rows = [[7, 4, 4, 8], [4], [9, 4, 7], []]
    frames = [Frame.empty(4, 8, DEVICE), Frame.empty(4, 8, DEVICE)]
    for frame in frames:
        frame.y.copy_(State.of(rows, width=8, device=DEVICE).y)
    places = static_edits.holes(frames[0].y, 6)
    logits = torch.randn(6, 1500, device=DEVICE) * 3
    static_edits.fill_places(frames[0], logits, places)
    edit_kernels.fill_places(frames[1], logits, places)
    assert torch.equal(frames[0].y, frames[1].y)
    assert not frames[0].y.eq(4).any()
    torch.testing.assert_close(frames[0].fill_logp, frames[1].fill_logp)
