"""One LSTM layer for the source, one for the target, attention between: the paper's imperfect translator.

The paper used fairseq's LSTM as it comes: one layer each, width 512, a source read from the left. Ours
feeds no attention back into the LSTM (fairseq does): then the whole target is one call of the kernel.
The decoder begins from a map of the last encoder state. Embeddings are scaled as the Transformer's are, and
attention is not (Luong's general score): states are below one, and with a score divided by √d the decoder learns
much later to look at the source.
"""

import math
import warnings
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.policy.attention import pattern
from levt.policy.autoregressive import check_width
from levt.policy.blocks import linear
from levt.policy.config import RecurrentConfig
from levt.policy.layout import Layout, Padded
from levt.policy.memory import Memory
from levt.policy.over_rows import last_of, mirrored, over_rows
from levt.policy.transformer import TokenTables

TOWER = "decoder"

# In training they are views into the vector of all weights. To put those of an LSTM together at every call takes
# microseconds; to let torch put them together once would take them away from the optimiser.
warnings.filterwarnings(
    "ignore", message="RNN module weights are not part of single contiguous chunk of memory"
)


@dataclass(frozen=True, eq=False)
class RecurrentCache:
    """The state of the decoder's LSTM."""

    state: Float[Tensor, "1 r d"]
    cell: Float[Tensor, "1 r d"]

    @property
    def rows(self) -> int:
        """Number of hypotheses."""
        return self.state.shape[1]

    def select(self, rows: Int[Tensor, "r"]) -> "RecurrentCache":
        """A new cache of these rows."""
        return RecurrentCache(self.state.index_select(1, rows), self.cell.index_select(1, rows))

    def copy_(self, other: "RecurrentCache") -> None:
        """Take over another cache's contents."""
        self.state.copy_(other.state)
        self.cell.copy_(other.cell)


class Recurrent(TokenTables):
    """An LSTM encoder and decoder with attention."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__(config, source_width=config.width)
        self.config = config
        d = config.width
        each = d // 2 if config.bidirectional else d
        self.forwards = nn.LSTM(d, each, batch_first=True)
        self.backwards = nn.LSTM(d, each, batch_first=True) if config.bidirectional else None
        self.decoder = nn.LSTM(d, d, batch_first=True)
        self.begin = linear(d, d, parts=2)
        self.keys = linear(d, d)
        self.combine = linear(2 * d, d)

    def encode(self, x: Int[Tensor, "*s"], layout: Layout | None = None) -> Memory:
        """Read the sources; the layout of padded rows may be left out."""
        layout = Padded.of(x) if layout is None else layout
        embedded = self.embed(x, self.source_table)
        states = over_rows(self.forwards, embedded, layout)
        final = last_of(states, layout)
        if self.backwards is not None:
            turned = over_rows(self.backwards, mirrored(embedded, layout), layout)
            final = torch.cat([final, last_of(turned, layout)], -1)
            states = torch.cat([states, mirrored(turned, layout)], -1)
        flat = self.drop(states)
        kv = torch.stack([self.keys(flat), flat], -2)[..., None, :, None, :]
        begin = torch.tanh(self.begin(final))
        return Memory(flat, layout, {TOWER: kv}, {"begin": begin})

    def hidden(self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout) -> Float[Tensor, "*n d"]:
        """States of the tokens so far, all places at once."""
        embedded = self.embed(y, self.target_tokens.weight)
        cache = self.start(memory, layout.longest, layout.rows // memory.rows)
        states = over_rows(self.decoder, embedded, layout, (cache.state, cache.cell))
        return self.attend(memory, states, layout)

    def attend(self, memory: Memory, h: Float[Tensor, "*n d"], layout: Layout) -> Float[Tensor, "*n d"]:
        """What the memory adds: tanh(W · concat(context, h))."""
        k, v = memory.kv[TOWER].select(-4, 0).unbind(-3)
        q = (h * math.sqrt(h.shape[-1])).unsqueeze(-2)  # what attention divides by
        context = pattern(layout, memory.layout, h).attend(q, k, v).squeeze(-2)
        return self.drop(torch.tanh(self.combine(torch.cat([context, h], -1))))

    def logits(
        self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout | None = None
    ) -> Float[Tensor, "*n v"]:
        """Scores of the next token at every place."""
        return self.token_logits(self.hidden(memory, y, Padded.of(y) if layout is None else layout))

    def start(self, memory: Memory, width: int, copies: int = 1) -> RecurrentCache:
        """The first state for ``copies`` hypotheses of each source."""
        check_width(width, self.config.max_length)
        begin = memory.extra["begin"].repeat_interleave(copies, 0)
        state, cell = begin.unsqueeze(0).chunk(2, -1)
        return RecurrentCache(state.contiguous(), cell.contiguous())

    @torch.no_grad()
    def step(self, memory: Memory, tokens: Int[Tensor, "r"], cache: RecurrentCache) -> Float[Tensor, "r v"]:
        """Take one more token of each row and score the next."""
        y = tokens.unsqueeze(1)
        embedded = self.embed(y, self.target_tokens.weight)
        h, (state, cell) = self.decoder(embedded, (cache.state, cache.cell))
        cache.copy_(RecurrentCache(state, cell))
        layout = Padded(torch.ones_like(y, dtype=torch.bool))
        return self.token_logits(self.attend(memory, h, layout).squeeze(1))

    def reorder(self, cache: RecurrentCache, rows: Int[Tensor, "r"]) -> RecurrentCache:
        """The cache of hypotheses that continue these rows."""
        return cache.select(rows)

    def embed(self, ids: Int[Tensor, "*n"], table: Float[Tensor, "v d"]) -> Float[Tensor, "*n d"]:
        """What enters an LSTM."""
        return self.drop(F.embedding(ids, table) * math.sqrt(table.shape[1]))

    def drop(self, x: Tensor) -> Tensor:
        """Dropout, in training."""
        return F.dropout(x, self.config.dropout, self.training)
