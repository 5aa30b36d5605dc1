"""Linear maps in a graph, in two precisions. Knows no network.

``Float`` is exact. ``Int8`` multiplies in 8 bits: weights with one scale per output, inputs with one scale per row,
found when the row is seen:

    q = round(127 x / max|x|) + 128,    y = max|x| / 127 · ((q − 128) W₈) · s + b

One scale per row, not per tensor as the tools of ONNX Runtime have it, so that a text does not depend on the
others in its batch; it is also nearer to the exact result. Where inputs cannot be negative all 255 steps are theirs.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from levt.engine.onnx_graph import Array, Graph

STEPS, POSITIVE, MIDDLE = "int8.steps", "int8.positive", "int8.middle"
"""Inputs of a graph that say how finely rows are rounded; they have defaults, for processors of today."""
NEVER = -1e30
"""Score of what can never be."""


@runtime_checkable
class Precision(Protocol):
    """How a graph multiplies by a matrix."""

    name: str

    def linear(
        self,
        g: Graph,
        x: str,
        key: str,
        weight: Array,
        bias: Array | None = None,
        *,
        positive: bool = False,
        never: Sequence[int] = (),
    ) -> str:
        """``x Wᵀ + b`` for flat rows x and W as torch keeps it, [out, in].

        ``positive``: x is never negative. ``never``: these outputs are to be far below all others.
        """
        ...

    def table(self, g: Graph, key: str, table: Array, tokens: str) -> str:
        """Rows of a table of embeddings."""
        ...


class Float:
    """Single precision."""

    name = "float32"

    def linear(
        self,
        g: Graph,
        x: str,
        key: str,
        weight: Array,
        bias: Array | None = None,
        *,
        positive: bool = False,
        never: Sequence[int] = (),
    ) -> str:
        """One operator."""
        if never:
            bias = far_below(len(weight), never) + (0 if bias is None else bias)
        added = [] if bias is None else [g.weight(f"{key}.bias", bias)]
        return g.op("Gemm", x, g.weight(f"{key}.weight", weight), *added, transB=1)

    def table(self, g: Graph, key: str, table: Array, tokens: str) -> str:
        """As they are."""
        return g.op("Gather", g.weight(f"{key}.weight", table), tokens)


class Int8:
    """Eight bits for products, sixteen for tables of embeddings."""

    name = "int8"

    def linear(
        self,
        g: Graph,
        x: str,
        key: str,
        weight: Array,
        bias: Array | None = None,
        *,
        positive: bool = False,
        never: Sequence[int] = (),
    ) -> str:
        """Round the rows, multiply whole numbers, scale back."""
        rounded, scales = quantised(weight)
        q, row, middle = self.rows(g, x, positive)
        y = g.op(
            "MatMulIntegerToFloat",
            q,
            g.weight(f"{key}.int8", rounded.T),
            g.constant(1.0, np.float32),
            g.weight(f"{key}.scales", scales),
            middle,
            g.weight(f"{key}.zeros", np.zeros(len(scales), np.int8)),
            *([g.weight(f"{key}.never", far_below(len(weight), never))] if never else []),
            domain="com.microsoft",
        )
        y = g.op("Mul", y, row)
        return y if bias is None else g.op("Add", y, g.weight(f"{key}.bias", bias))

    def rows(self, g: Graph, x: str, positive: bool) -> tuple[str, str, str]:
        """The rows of x rounded, the scale of each, and the whole number that stands for 0.

        A row of nothing but zeros has the scale 0, which makes zeros of whatever it was rounded to.
        """
        if positive:
            largest, steps, middle = x, g.default(POSITIVE, [1 / 255], np.float32), g.constant([0], np.uint8)
        else:
            largest = g.op("Abs", x)
            steps, middle = g.default(STEPS, [1 / 127], np.float32), g.default(MIDDLE, [128], np.uint8)
        largest = g.op("ReduceMax", largest, g.constant([-1]), keepdims=1)
        scale = g.op("Mul", largest, steps)
        zeros = g.op("Expand", middle, g.row_count(x))
        q = g.op("QuantizeLinear", x, g.op("Reshape", scale, g.constant([-1])), zeros, axis=0)
        return q, scale, g.op("Squeeze", middle)

    def table(self, g: Graph, key: str, table: Array, tokens: str) -> str:
        """Half precision: an embedding is only read, and its rounding is far below that of the products."""
        rows = g.op("Gather", g.weight(f"{key}.half", table.astype(np.float16)), tokens)
        return g.op("Cast", rows, to=1)


def far_below(outputs: int, never: Sequence[int]) -> Array:
    """Zeros, and a very negative number for some outputs (finite, so that no product with it is NaN)."""
    found = np.zeros(outputs, np.float32)
    found[list(never)] = NEVER
    return found


def quantised(weight: Array) -> tuple[Array, Array]:
    """Whole numbers from −127 to 127 and one scale per row.

    >>> q, s = quantised(np.asarray([[1.0, -2.0], [0.0, 0.0]], np.float32))
    >>> q.tolist(), [round(float(v), 4) for v in s]
    ([[64, -127], [0, 0]], [0.0157, 0.0])
    """
    scales = (np.abs(weight).max(1) / 127).astype(np.float32)
    rounded = np.rint(weight / np.where(scales > 0, scales, 1)[:, None])
    return rounded.clip(-127, 127).astype(np.int8), scales
