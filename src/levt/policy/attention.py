"""Who may look at whom, and the kernel that does the looking. Knows layouts, not networks.

A pattern is made once per pass for a pair of layouts, then called by every layer. Queries may have a
multiple of the keys' rows: with c times as many, query row r looks at key row r // c. That serves several
states of one source (the insertion states of training, the hypotheses of a beam) without copying keys,
because c neighbouring query rows are, to attention without order, one longer row.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from levt.policy.cache import CachedPattern
from levt.policy.layout import Layout, Packed, Padded
from levt.policy.row_groups import RowGroup, grouped_attention, row_groups
from levt.policy.short_attention import fits, short_attention

varlen_attn: Callable[..., Any] | None = None
# To import it takes longer than all of torch, and without a GPU it is of no use.
if torch.cuda.device_count():
    with suppress(ImportError):  # torch before 2.9
        from torch.nn.attention.varlen import varlen_attn

CAUSAL: dict[str, Any] = {}
"""How the installed torch asks the variable-length kernel to look only backwards."""
if varlen_attn is not None:
    _names = inspect.signature(varlen_attn).parameters
    CAUSAL = {"is_causal": True} if "is_causal" in _names else {"window_size": (-1, 0)}


@dataclass(frozen=True, eq=False)
class PaddedPattern:
    """Attention over padded rows."""

    bias: Float[Tensor, "b 1 1 s"] | Float[Tensor, "1 1 s"] | None
    """Added to the scores: very negative on padding. None where nothing is hidden."""
    causal: bool = False
    """Look only at oneself and backwards."""

    def attend(
        self,
        q: Float[Tensor, "r n h e"],
        k: Float[Tensor, "b s h e"],
        v: Float[Tensor, "b s h e"],
        *,
        dropout: float = 0.0,
    ) -> Float[Tensor, "r n h e"]:
        """Look; r may be a multiple of b."""
        out = F.scaled_dot_product_attention(
            q.reshape(k.shape[0], -1, *q.shape[2:]).transpose(1, 2),
            k.transpose(1, 2),
            v.transpose(1, 2),
            attn_mask=self.bias,
            dropout_p=dropout,
            is_causal=self.causal,
        )
        return out.transpose(1, 2).reshape(q.shape)


def varlen_fits(q: Float[Tensor, "t h e"]) -> bool:
    """Whether torch's variable-length kernel can serve these queries."""
    half = q.dtype in (torch.bfloat16, torch.float16)
    return q.is_cuda and half and q.shape[2] % 8 == 0 and q.shape[2] <= 256


@dataclass(frozen=True, eq=False)
class PackedPattern:
    """Attention over flat sequences: our kernels where most are short, torch's, or padded rows where neither can.

    On a CPU rows of about one length are padded together; there the host knows the lengths.
    """

    queries: Packed
    keys: Packed
    """As many rows as ``queries``."""
    causal: bool = False
    """Look only at oneself and backwards."""

    def attend(
        self,
        q: Float[Tensor, "t h e"],
        k: Float[Tensor, "s h e"],
        v: Float[Tensor, "s h e"],
        *,
        dropout: float = 0.0,
    ) -> Float[Tensor, "t h e"]:
        """Look; the result is zero in the tail."""
        asked, seen = self.queries, self.keys
        lengths = (asked.offsets, seen.offsets, asked.longest, seen.longest)
        if dropout == 0 and fits(q, k, seen.rows):
            where = (asked.offsets, seen.offsets, seen.row)
            return asked.clean(short_attention(q, k, v, *where, seen.longest, self.causal))
        if dropout == 0 and varlen_attn is not None and varlen_fits(q):
            out: Tensor = varlen_attn(q, k, v, *lengths, **(CAUSAL if self.causal else {}))
            return asked.clean(out)
        if q.device.type == "cpu":
            return grouped_attention(self.groups, q, k, v, causal=self.causal, dropout=dropout)
        return self.by_padding(q, k, v, dropout=dropout)

    @cached_property
    def groups(self) -> list[RowGroup]:
        """The rows by length."""
        return row_groups(self.queries, self.keys)

    def by_padding(
        self,
        q: Float[Tensor, "t h e"],
        k: Float[Tensor, "s h e"],
        v: Float[Tensor, "s h e"],
        *,
        dropout: float = 0.0,
    ) -> Float[Tensor, "t h e"]:
        """The slow way, on every device and in every precision: to padded rows and back."""
        asked, seen = self.queries, self.keys
        look = padded_pattern(seen.spread(seen.real), causal=self.causal, dtype=q.dtype)
        out = look.attend(asked.spread(q), seen.spread(k), seen.spread(v), dropout=dropout)
        return asked.clean(asked.flatten(out))


Pattern = PaddedPattern | PackedPattern | CachedPattern
"""Attention between two batches of sequences: ``softmax(q kᵀ / √e) v`` where looking is allowed."""


def padded_pattern(real: Tensor, *, causal: bool, dtype: torch.dtype) -> PaddedPattern:
    """Attention to the real places of padded rows.

    Padding is on the right where it is causal, so a real query sees no padding and needs no mask. The
    bias is finite: a row of nothing but padding (a filler of a fixed batch) gives no NaN.
    """
    if causal:
        return PaddedPattern(None, causal=True)
    hidden = torch.finfo(dtype).min / 2
    bias = torch.zeros(real.shape, dtype=dtype, device=real.device).masked_fill(~real, hidden)
    return PaddedPattern(bias[:, None, None, :])


def pattern(queries: Layout, keys: Layout, x: Tensor, *, causal: bool = False) -> Pattern:
    """The attention from ``queries`` to ``keys``, in the precision in which ``x`` will be multiplied."""
    if isinstance(queries, Padded) and isinstance(keys, Padded):
        return padded_pattern(keys.real, causal=causal, dtype=working_dtype(x))
    if isinstance(queries, Packed) and isinstance(keys, Packed):
        return PackedPattern(queries.grouped(queries.rows // keys.rows), keys, causal)
    raise TypeError(f"queries are {type(queries).__name__} and keys are {type(keys).__name__}")


def working_dtype(x: Tensor) -> torch.dtype:
    """The precision of a matrix product with ``x``: autocast's where it is on."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
