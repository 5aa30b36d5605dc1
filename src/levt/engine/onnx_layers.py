"""The parts of the networks of ``levt.policy`` as pieces of a graph, operator by operator.

Between attention layers a batch lies flat, [b·n, d]; the tests hold every piece to the network it describes.
"""

from collections.abc import Callable, Sequence

import numpy as np
from torch import Tensor, nn

from levt.engine.onnx_graph import Array, Graph, Weights
from levt.engine.onnx_linear import Precision
from levt.policy.blocks import Block, SelfAttention
from levt.policy.config import Activation
from levt.policy.embedding import Embedder
from levt.text.specials import PAD

HIDDEN = -1e30
"""Score of a place that must not be looked at."""
FLOAT = 1
"""How ONNX calls single precision."""


def array(tensor: Tensor) -> Array:
    """The numbers of a tensor."""
    found: Array = tensor.detach().float().cpu().numpy()
    return found


class Layers:
    """Adds layers to a graph."""

    def __init__(self, name: str, weights: Weights, precision: Precision, activation: Activation) -> None:
        self.g, self.precision, self.activation = Graph(name, weights), precision, activation

    def padding(self, y: str) -> str:
        """What is added to the scores of places to hide the padding of y, [b, 1, 1, n]."""
        return self.hidden(self.g.op("Equal", y, self.g.constant(PAD)), [1, 2])

    def absent(self, real: str) -> str:
        """The same for a memory of which ``real`` says what is no padding, [b, 1, 1, s]."""
        return self.hidden(self.g.op("Not", real), [1, 2])

    def future(self, y: str) -> str:
        """The same for everything behind a place, [1, 1, n, n]; padding is on the right, so that is hidden, too."""
        g = self.g
        n = g.op("Squeeze", g.op("Shape", y, start=1))
        column = g.op("Range", g.constant(0), n, g.constant(1))
        later = g.op("Greater", column, g.op("Unsqueeze", column, g.constant([1])))
        return self.hidden(later, [0, 1])

    def hidden(self, where: str, axes: Sequence[int]) -> str:
        """Very negative numbers where something is true, finite, so that a row of padding gives no NaN."""
        g = self.g
        numbers = g.op("Mul", g.op("Cast", where, to=FLOAT), g.constant(HIDDEN, np.float32))
        return g.op("Unsqueeze", numbers, g.constant(axes))

    def embed(
        self, embedder: Embedder, key: str, table: Tensor, name: str, y: str, place: str | None = None
    ) -> str:
        """Flat states of token rows; ``place`` is the position of all where it does not count the columns."""
        g = self.g
        x = self.precision.table(g, name, array(table), y)
        if embedder.scale != 1.0:
            x = g.op("Mul", x, g.constant(embedder.scale, np.float32))
        positions = embedder.sinusoids if embedder.positions is None else embedder.positions.weight
        if positions is not None:
            rows, zero = g.weight(f"{key}.positions", array(positions)), g.constant([0])
            if place is None:
                here = g.op("Slice", rows, zero, g.op("Shape", y, start=1), zero)
            else:
                here = g.op("Gather", rows, place)
            x = g.op("Add", x, here)
        x = self.flat(x, table.shape[1])
        return x if embedder.norm is None else self.norm(x, embedder.norm, f"{key}.norm")

    def norm(self, x: str, norm: nn.LayerNorm, key: str) -> str:
        """Normalise."""
        g = self.g
        gain, bias = g.weight(f"{key}.weight", array(norm.weight)), g.weight(f"{key}.bias", array(norm.bias))
        return g.op("LayerNormalization", x, gain, bias, axis=-1, epsilon=norm.eps)

    def linear(
        self, x: str, linear: nn.Linear, key: str, *, scale: Array | float = 1.0, positive: bool = False
    ) -> str:
        """A linear map of flat rows, its outputs scaled."""
        factor = np.broadcast_to(np.asarray(scale, np.float32), (linear.out_features,))
        weight, bias = array(linear.weight) * factor[:, None], array(linear.bias) * factor
        return self.precision.linear(self.g, x, key, weight, bias, positive=positive)

    def flat(self, x: str, width: int) -> str:
        """Rows as flat states."""
        return self.g.op("Reshape", x, self.g.constant([-1, width]))

    def heads(self, x: str, y: str, heads: int, size: int) -> str:
        """Flat states as rows like those of y, each head by itself: [b, h, n, e]."""
        g = self.g
        shape = g.op("Concat", g.op("Shape", y), g.constant([heads, size]), axis=0)
        return g.op("Transpose", g.op("Reshape", x, shape), perm=[0, 2, 1, 3])

    def queries_keys_values(self, x: str, part: SelfAttention, key: str) -> tuple[str, ...]:
        """Flat queries, keys and values; queries have the 1/√e already."""
        d = part.heads * part.head
        scale = np.ones(3 * d, np.float32)
        scale[:d] = part.head**-0.5
        qkv = self.linear(x, part.qkv, f"{key}.qkv", scale=scale)
        return self.g.ops("Split", qkv, count=3, axis=-1, num_outputs=3)

    def look(self, x: str, part: SelfAttention, key: str, y: str, *, causal: bool = False) -> str:
        """Every token of y looks at every other, or at those before it."""
        parts = self.queries_keys_values(x, part, key)
        q, k, v = (self.heads(x, y, part.heads, part.head) for x in parts)
        seen = self.attend(q, k, v, self.future(y) if causal else self.padding(y))
        return self.linear(self.flat(seen, part.heads * part.head), part.out, f"{key}.out")

    def attend(self, q: str, k: str, v: str, hidden: str | None = None) -> str:
        """``softmax(q kᵀ + hidden) v`` as rows, [b, n, h, e].

        These operators and not MultiHeadAttention: as fast, and versions of ONNX Runtime agree about them.
        """
        g = self.g
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = scores if hidden is None else g.op("Add", scores, hidden)
        return g.op("Transpose", g.op("MatMul", g.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])

    def activated(self, x: str) -> str:
        """The nonlinearity."""
        g = self.g
        if self.activation == "silu":
            return g.op("Mul", x, g.op("Sigmoid", x))
        if self.activation.startswith("gelu"):
            return g.op("Gelu", x, approximate="tanh" if self.activation == "gelu_tanh" else "none")
        return g.op({"relu": "Relu", "tanh": "Tanh"}[self.activation], x)

    def block(
        self,
        x: str,
        block: Block,
        key: str,
        *,
        y: str,
        kv: tuple[str, str] | None = None,
        real: str = "",
        causal: bool = False,
    ) -> str:
        """One block over whole rows like y; ``kv`` are keys and values of the memory, ``real`` what is no padding."""
        part = block.self_attention
        x = self.around(
            x,
            block,
            "self_norm",
            key,
            lambda z: self.look(z, part, f"{key}.self_attention", y, causal=causal),
        )
        return self.rest(x, block, key, y=y, kv=kv, real=real)

    def next_block(
        self,
        x: str,
        block: Block,
        key: str,
        *,
        y: str,
        past: tuple[str, ...],
        kv: tuple[str, str],
        real: str,
    ) -> tuple[str, tuple[str, str]]:
        """One block over one more token of each row, which sees those before it; gives the longer cache, too."""
        g, part, cache = self.g, block.self_attention, ("", "")
        shape = g.constant([-1, part.heads, 1, part.head])

        def look(z: str) -> str:
            nonlocal cache
            parts = self.queries_keys_values(z, part, f"{key}.self_attention")
            q, k, v = (g.op("Reshape", part, shape) for part in parts)
            cache = (g.op("Concat", past[0], k, axis=2), g.op("Concat", past[1], v, axis=2))
            seen = self.flat(self.attend(q, *cache), part.heads * part.head)
            return self.linear(seen, part.out, f"{key}.self_attention.out")

        x = self.around(x, block, "self_norm", key, look)
        return self.rest(x, block, key, y=y, kv=kv, real=real), cache

    def rest(self, x: str, block: Block, key: str, *, y: str, kv: tuple[str, str] | None, real: str) -> str:
        """What follows self-attention."""
        part, feed = block.cross_attention, block.feed_forward
        if part is not None and kv is not None:
            heads, size, name = part.heads, part.head, f"{key}.cross_attention"
            query, out = part.query, part.out

            def across(z: str) -> str:
                q = self.heads(self.linear(z, query, f"{name}.query", scale=size**-0.5), y, heads, size)
                seen = self.attend(q, *kv, self.absent(real))
                return self.linear(self.flat(seen, heads * size), out, f"{name}.out")

            x = self.around(x, block, "cross_norm", key, across)

        def both(z: str) -> str:
            inner = self.activated(self.linear(z, feed.into, f"{key}.feed_forward.into"))
            positive = self.activation == "relu"
            return self.linear(inner, feed.out, f"{key}.feed_forward.out", positive=positive)

        return self.around(x, block, "feed_norm", key, both)

    def around(self, x: str, block: Block, norm: str, key: str, sublayer: Callable[[str], str]) -> str:
        """A sublayer with its residual and its normalisation, before or after.

        Not the fused SkipLayerNormalization: its CPU kernel takes five times as long as these two.
        """
        part, name = getattr(block, norm), f"{key}.{norm}"
        if block.pre_norm:
            return self.g.op("Add", x, sublayer(self.norm(x, part, name)))
        return self.norm(self.g.op("Add", x, sublayer(x)), part, name)
