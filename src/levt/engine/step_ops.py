"""The pieces of one step of a search, in plain torch: what ``step_kernels`` does in a launch each. Knows no network.

Hypothesis r keeps the keys and values of its own tokens only; ``origin[r, j]`` says in which row those of its token j
lie. So when hypotheses are exchanged, a table of numbers moves and not the cache.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from levt.refine.search import next_token
from levt.text.specials import EOS


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """The state of a search: b sources with k hypotheses each, r = b k, of at most w tokens."""

    tokens: Int[Tensor, "r"]
    so_far: Float[Tensor, "b k"]
    origin: Int[Tensor, "r w"]
    position: Int[Tensor, "1"]
    limit: Int[Tensor, "b"]
    values: Float[Tensor, "w b c"]
    places: Int[Tensor, "w b c"]
    """The best extensions of every step, for the host."""


def attend_step(
    qkv: Float[Tensor, "r p"],
    kv: Float[Tensor, "2 r h w e"],
    origin: Int[Tensor, "r w"],
    position: Int[Tensor, "1"],
) -> Float[Tensor, "r d"]:
    """One new token per row: keep its key and value, then look at those before it and at itself; p = 3 d."""
    _, r, h, w, e = kv.shape
    q, k, v = qkv.view(r, 3, h, e).unbind(1)
    kv[0].index_copy_(2, position, k.unsqueeze(2))
    kv[1].index_copy_(2, position, v.unsqueeze(2))
    column = torch.arange(w, device=qkv.device)
    # [r w h e], each column from the row where it was written.
    keys, values = (part[origin, :, column] for part in kv)
    scores = torch.einsum("rhe,rwhe->rhw", q.float(), keys.float()) * e**-0.5
    weights = scores.masked_fill(column > position, float("-inf")).softmax(-1)
    return torch.einsum("rhw,rwhe->rhe", weights, values.float()).flatten(1).to(qkv.dtype)


def attend_memory(
    q: Float[Tensor, "r d"], kv: Float[Tensor, "b s 2 h e"], real: Bool[Tensor, "b s"]
) -> Float[Tensor, "r d"]:
    """Look at the memory; row r at that of source r // k."""
    r, h, e = q.shape[0], kv.shape[3], kv.shape[4]
    copies = r // kv.shape[0]
    keys, values = (part.repeat_interleave(copies, 0).float() for part in kv.unbind(2))
    scores = torch.einsum("rhe,rshe->rhs", q.view(r, h, e).float(), keys) * e**-0.5
    hidden = ~real.repeat_interleave(copies, 0).unsqueeze(1)
    weights = scores.masked_fill(hidden, torch.finfo(torch.float32).min / 2).softmax(-1)
    return torch.einsum("rhs,rshe->rhe", weights, values).flatten(1).to(q.dtype)


def add_norm(
    x: Float[Tensor, "r d"],
    inner: Float[Tensor, "r d"],
    weight: Float[Tensor, "d"],
    bias: Float[Tensor, "d"],
    eps: float,
) -> tuple[Float[Tensor, "r d"], Float[Tensor, "r d"]]:
    """The residual sum, and the same normalised."""
    total = x + inner
    return total, F.layer_norm(total, weight.shape, weight, bias, eps)


def advance(state: Hypotheses, logits: Float[Tensor, "r v"]) -> None:
    """Record the best extensions, let the best that do not end go on, and count the step."""
    b, k = state.so_far.shape
    v, w = logits.shape[1], state.origin.shape[1]
    logp = next_token(logits).view(b, k, v)
    # Where a row is at its longest output only the end is allowed.
    last = (state.position >= state.limit - 2).view(b, 1, 1)
    not_end = torch.arange(v, device=logp.device).ne(EOS)
    total = (state.so_far.unsqueeze(2) + logp).masked_fill(last & not_end, float("-inf"))
    values, places = total.flatten(1).topk(state.values.shape[2])
    state.values.index_copy_(0, state.position, values.unsqueeze(0))
    state.places.index_copy_(0, state.position, places.unsqueeze(0))
    # The best k that do not end go on, in order; where there are fewer, hypotheses of no weight fill up.
    order = torch.arange(values.shape[1], device=logp.device)
    ends = (places % v).eq(EOS) | values.eq(float("-inf"))
    chosen = torch.where(ends, order + values.shape[1], order).topk(k, largest=False, sorted=True).indices
    state.so_far.copy_(values.gather(1, chosen).masked_fill(ends.gather(1, chosen), float("-inf")))
    places = places.gather(1, chosen)
    state.tokens.copy_((places % v).flatten())
    rows = (torch.arange(b, device=logp.device).unsqueeze(1) * k + places // v).flatten()
    own = torch.arange(b * k, device=logp.device).unsqueeze(1)
    written = torch.arange(w, device=logp.device) <= state.position
    state.origin.copy_(torch.where(written, state.origin[rows], own))
    state.position.add_(1)
