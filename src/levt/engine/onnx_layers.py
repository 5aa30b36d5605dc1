"""The parts of the networks of ``levt.policy`` as pieces of a graph, operator by operator.

Between attention layers a batch lies flat, [b·n, d]; the tests hold every piece to the network it describes.
"""

from collections.abc import Callable

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
INT32 = 6
"""How ONNX calls whole numbers of 32 bits."""


def array(tensor: Tensor) -> Array:
    """The numbers of a tensor."""
    found: Array = tensor.detach().float().cpu().numpy()
    return found


class Layers:
    """Adds layers to a graph."""

    def __init__(self, name: str, weights: Weights, precision: Precision, activation: Activation) -> None:
        self.g, self.precision, self.activation = Graph(name, weights), precision, activation

    def real(self, y: str) -> str:
        """1 on tokens, 0 on padding, as attention wants it."""
        g = self.g
        return g.op("Cast", g.op("Not", g.op("Equal", y, g.constant(PAD))), to=INT32)

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

    def linear(self, x: str, linear: nn.Linear, key: str, *, positive: bool = False) -> str:
        """A linear map of flat rows."""
        weight, bias = array(linear.weight), array(linear.bias)
        return self.precision.linear(self.g, x, key, weight, bias, positive=positive)

    def rows(self, x: str, y: str, width: int) -> str:
        """Flat states as rows like those of y, [b, n, width]."""
        g = self.g
        return g.op("Reshape", x, g.op("Concat", g.op("Shape", y), g.constant([width]), axis=0))

    def flat(self, x: str, width: int) -> str:
        """Rows as flat states."""
        return self.g.op("Reshape", x, self.g.constant([-1, width]))

    def look(self, x: str, part: SelfAttention, key: str, y: str, *, causal: bool = False) -> str:
        """Every token of y looks at every other, or at those before it."""
        d = part.heads * part.head
        qkv = self.rows(self.linear(x, part.qkv, f"{key}.qkv"), y, 3 * d)
        q, k, v = self.g.ops("Split", qkv, count=3, axis=-1, num_outputs=3)
        # Padding is on the right: where nobody looks ahead, nobody sees it.
        seen = self.attend(part.heads, q, k, v, "" if causal else self.real(y), unidirectional=int(causal))
        return self.linear(self.flat(seen, d), part.out, f"{key}.out")

    def attend(self, heads: int, q: str, k: str, v: str, real: str, **more: int) -> str:
        """``softmax(q kᵀ / √e) v`` over what is real."""
        inputs = (q, k, v, "", real) if real else (q, k, v)
        scores = {"num_heads": heads, "mask_filter_value": HIDDEN}
        return self.g.op("MultiHeadAttention", *inputs, domain="com.microsoft", **scores, **more)

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
        d = part.heads * part.head

        def look(z: str) -> str:
            nonlocal cache
            qkv = self.linear(z, part.qkv, f"{key}.self_attention.qkv")
            qkv = g.op("Reshape", qkv, g.constant([-1, 1, 3 * d]))
            q, k, v = g.ops("Split", qkv, count=3, axis=-1, num_outputs=3)
            inputs = (q, k, v, "", "", "", *past)
            seen, *longer = g.ops(
                "MultiHeadAttention", *inputs, count=3, domain="com.microsoft", num_heads=part.heads
            )
            cache = (longer[0], longer[1])
            return self.linear(self.flat(seen, d), part.out, f"{key}.self_attention.out")

        x = self.around(x, block, "self_norm", key, look)
        return self.rest(x, block, key, y=y, kv=kv, real=real), cache

    def rest(self, x: str, block: Block, key: str, *, y: str, kv: tuple[str, str] | None, real: str) -> str:
        """What follows self-attention."""
        part, feed = block.cross_attention, block.feed_forward
        if part is not None and kv is not None:
            d, heads, name = part.heads * part.head, part.heads, f"{key}.cross_attention"
            query, out = part.query, part.out

            def across(z: str) -> str:
                q = self.rows(self.linear(z, query, f"{name}.query"), y, d)
                return self.linear(self.flat(self.attend(heads, q, *kv, real), d), out, f"{name}.out")

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
