"""A matrix in few bits, and back. Knows no file and no network.

In 8 bits a matrix W is bytes Q with a scale s for each row: W = s · Q, s = max |row| / 127. In 4 bits every 32 weights
of a row have a scale of their own, in half precision, and two of them share a byte. Four bits hold −8 … 7, so the scale
may be negative (then the largest weight may be the one at −8), and of a few sizes that one is taken which leaves the
smallest error: rarely the one at which nothing is cut off.
"""

import numpy as np
import torch
from jaxtyping import Float, Int8, UInt8
from torch import Tensor

GROUP = 32
"""Weights that share a scale in 4 bits."""
REACHES = (7.0, 7.5, 8.0, 8.5, 9.0, 10.0)
"""Where the largest weight of a group may come to lie, up to its sign; what is above 7 is cut off."""

_BYTES = np.arange(256)
_PAIRS = (np.stack([_BYTES & 15, _BYTES >> 4], 1) - 8).astype(np.float32).view(np.complex64)[:, 0]
"""The two weights of every byte, looked up as one number of twice the size."""


def to_bytes(w: Float[Tensor, "o i"]) -> tuple[Int8[Tensor, "o i"], Float[Tensor, "o"]]:
    """Q and s.

    >>> to_bytes(torch.tensor([[0.5, -1.27]]))[0].tolist()
    [[50, -127]]
    """
    scale = w.abs().amax(1) / 127
    # A row of zeros has no scale; any will do.
    safe = torch.where(scale > 0, scale, 1.0)
    return (w / safe.unsqueeze(1)).round().clamp(-127, 127).to(torch.int8), safe


def from_bytes(q: Int8[Tensor, "o i"], scale: Float[Tensor, "o"]) -> Float[Tensor, "o i"]:
    """W = s · Q."""
    return q.to(scale.dtype).mul_(scale.unsqueeze(1))


def halves(width: int) -> bool:
    """Whether rows of this width are whole groups, as 4 bits need them to be."""
    return width > 0 and width % GROUP == 0


def to_halves(w: Float[Tensor, "o i"]) -> tuple[UInt8[Tensor, "o h"], Float[Tensor, "o g"]]:
    """Two weights a byte, the first in its low half, each 8 too large; and the scale of every group."""
    grouped = w.reshape(len(w), -1, GROUP)
    largest = grouped.abs().amax(2, keepdim=True)
    best = torch.zeros_like(grouped)
    scale, error = torch.ones_like(largest), torch.full_like(largest, torch.inf)
    for reach in (*REACHES, *(-one for one in REACHES)):
        tried = (largest / reach).to(torch.float16).to(w.dtype)
        tried = torch.where(tried == 0, 1.0, tried)
        q = (grouped / tried).round().clamp(-8, 7)
        off = (q * tried - grouped).square().sum(2, keepdim=True)
        better = off < error
        best, scale = torch.where(better, q, best), torch.where(better, tried, scale)
        error = torch.where(better, off, error)
    lifted = (best + 8).to(torch.uint8).reshape(len(w), -1, 2)
    return lifted[..., 0] | lifted[..., 1] << 4, scale.squeeze(2).to(torch.float16)


def from_halves(q: UInt8[Tensor, "o h"], scale: Float[Tensor, "o g"]) -> Float[Tensor, "o i"]:
    """The matrix in float32.

    >>> from_halves(*to_halves(torch.tensor([[0.5, -1.0] * 16]))).unique().tolist()
    [-1.0, 0.5]
    """
    # By numpy: on a busy machine torch's threads wait for each other for far longer than one of them takes.
    both = _PAIRS.take(q.numpy()).view(np.float32).reshape(len(q), -1, GROUP)
    both *= scale.numpy().astype(np.float32)[..., np.newaxis]
    return torch.from_numpy(both.reshape(len(q), -1))
