"""Kernels over a large vocabulary do what plain torch does, on a GPU or by the interpreter (TRITON_INTERPRET=1)."""

import os

import pytest
import torch
from torch.nn import functional as F

from levt.edits.kernels import HAVE_TRITON
from levt.imitation import vocabulary_ops
from levt.imitation.likelihood import Likelihood, OwnTokens

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

pytestmark = [
    *([] if INTERPRETED else [pytest.mark.gpu]),
    pytest.mark.skipif(not HAVE_TRITON or (DEVICE == "cpu" and not INTERPRETED), reason="no GPU"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the interpreter computes with numpy
]


@pytest.mark.parametrize("k", [2048, 4096, 9001])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_likelihood_and_its_gradient(k: int, smoothing: float) -> None:
    torch.manual_seed(k)
    logits = torch.randn(7, k, device=DEVICE) * 5 + 3
    logits[1] -= 200
    labels = torch.tensor([0, k - 1, -1, 5, 4095 % k, -1, 17], device=DEVICE)
    weight = torch.tensor(0.7, device=DEVICE)
    mine, theirs = (logits.clone().requires_grad_() for _ in range(2))
    expected = F.cross_entropy(theirs, labels, ignore_index=-1, reduction="sum", label_smoothing=smoothing)
    (expected * weight).backward()
    found = vocabulary_ops.likelihood(mine, labels, smoothing)[0]
    (found.sum() * weight).backward()
    torch.testing.assert_close(found.sum(), expected, rtol=1e-5, atol=1e-4)
    assert found[2] == found[5] == 0
    torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.gpu
def test_in_half_precision_as_well_as_plain_torch() -> None:
    logits = (torch.randn(64, 32_000, device="cuda") * 3).bfloat16()
    labels = torch.randint(-1, 32_000, (64,), device="cuda")
    module = Likelihood(0.1)
    grads = []
    for large in (True, False):
        given = logits.clone().requires_grad_()
        loss = (
            module(given, labels)
            if large
            else F.cross_entropy(given.float(), labels, ignore_index=-1, reduction="sum", label_smoothing=0.1)
        )
        loss.backward()
        grads.append((loss.detach(), given.grad))
    torch.testing.assert_close(grads[0][0], grads[1][0], rtol=1e-4, atol=1e-2)
    torch.testing.assert_close(grads[0][1], grads[1][1], rtol=2e-2, atol=1e-6)


def test_samples_have_their_shares() -> None:
    torch.manual_seed(0)
    k, first, rows = 5000, 5, 400 if INTERPRETED else 40_000
    logits = torch.full((1, k), -8.0, device=DEVICE)
    # Specials are likely, and never chosen; the others lie in both blocks.
    likely = torch.tensor([5, 6, 4095, 4096, 4999], device=DEVICE)
    logits[0, :first] = 9.0
    logits[0, likely] = torch.tensor([2.0, 1.0, 0.0, 2.0, 1.5], device=DEVICE)
    uniform = torch.rand(rows, 3, device=DEVICE)
    tokens = vocabulary_ops.sample(logits.expand(rows, k).contiguous(), uniform, first)
    assert int(tokens.min()) >= first
    shares = logits[0, first:].softmax(0)
    for token in likely.tolist():
        share = float(shares[token - first])
        found = float((tokens == token).float().mean())
        assert abs(found - share) < 5 * (share * (1 - share) / rows) ** 0.5
    other = 1 - float(shares[likely - first].sum())
    found = 1 - float(torch.isin(tokens, likely).float().mean())
    assert abs(found - other) < 5 * (other * (1 - other) / rows) ** 0.5 + 1e-9


def test_the_ends_of_the_random_numbers() -> None:
    logits = torch.randn(4, 4100, device=DEVICE)
    for value in (0.0, 1.0 - 2**-24):
        tokens = vocabulary_ops.sample(logits, torch.full((4, 3), value, device=DEVICE), 5)
        assert bool(((tokens >= 5) & (tokens < 4100)).all())


@pytest.mark.gpu
def test_the_modules_use_them() -> None:
    logits = torch.randn(6, 4000, device="cuda")
    assert vocabulary_ops.fits(logits)
    assert not vocabulary_ops.fits(logits[:, :100])
    assert not vocabulary_ops.fits(logits.cpu())
    logits[:, 77] = 60.0
    assert OwnTokens(sample=True)(logits).tolist() == [77] * 6
