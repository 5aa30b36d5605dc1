"""A LevT packed for ``native.c``: its weights in panels, and calls for its passes. Knows no loop.

Bytes as in ``onnx_linear``; the classifiers of delete and placeholder are small and decide most: they stay exact.
"""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from torch import Tensor, nn

from levt.engine.native_library import Array, Layer, Linear, Norm, Stack, address, library
from levt.engine.onnx_linear import quantised
from levt.errors import InputError
from levt.policy.blocks import Block
from levt.policy.config import POLICIES, Policy
from levt.policy.decoder import Tower
from levt.policy.embedding import Embedder
from levt.policy.levt import LevT
from levt.text.specials import PLH, SPECIALS

PANEL = 64
"""Outputs that are computed together."""
NEAR = 30
"""Places whose scores of the whole vocabulary are held at once, in whole tiles: they fit into a cache."""
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "tanh")
NativePrecision = Literal["float32", "int8"]


class Source:
    """An encoded source: for each tower keys and values of its layers, [l, s, 2 d], and their addresses."""

    __slots__ = ("kv", "length", "places")

    def __init__(self, length: int, kv: Mapping[str, Array]) -> None:
        self.length, self.kv = length, kv
        self.places = {name: address(array) for name, array in kv.items()}


class Packed:
    """A network in panels; holds what the structures of C point to."""

    def __init__(self, network: LevT, precision: NativePrecision, threads: int = 1) -> None:
        self.library, self._kept = library(), list[Any]()
        self._activation = ACTIVATIONS.index(network.config.activation)
        self.threads = threads
        self._bytes = precision == "int8"
        config = network.config
        self.width, self.vocabulary = config.width, config.target_vocabulary
        self.source_vocabulary, self.max_length = config.source_vocabulary, config.max_length
        self.encoder_width = config.of_encoder("width")
        encoder = network.encoder

        self.encoder = self._stack(encoder.blocks, encoder.embed, network.source_table, encoder.norm)
        self.encoder_depth = len(encoder.blocks)
        self.towers: dict[str, Stack] = {}
        self.memory: dict[str, Any] = {}
        for tower in network.towers.values():
            if tower.name in self.towers:
                continue
            table = network.target_tokens.weight
            self.towers[tower.name] = self._stack(tower.blocks, network.embed, table, tower.norm)
            self.memory[tower.name] = self._memory(tower)
        self.tower_of: dict[Policy, str] = {policy: network.towers[policy].name for policy in POLICIES}
        self.delete_head = self._linear(network.delete_head, exact=True)
        self.placeholder_head = self._linear(network.placeholder_head, exact=True)
        output = network.target_tokens if network.output is None else network.output
        self.token_head = self._linear(output.weight)

    # ---- passes ----

    def encode(self, sources: Sequence[Sequence[int]]) -> list[Source]:
        """Read sources, boundaries counted."""
        if not sources:
            return []
        begin, tokens = self._checked(sources, self.source_vocabulary)
        x = np.empty((len(tokens), self.encoder_width), np.float32)
        self._run(
            self.library.levt_states,
            ctypes.byref(self.encoder), self.encoder_depth, len(sources), begin, tokens, x, None, None,
        )  # fmt: skip
        found = []
        for i, source in enumerate(sources):
            rows = x[begin[i] : begin[i + 1]]
            kv = {name: self._mapped(layers, len(layers), rows) for name, layers in self.memory.items()}
            found.append(Source(len(source), kv))
        return found

    def states(
        self, sources: Sequence[Source], rows: Sequence[Sequence[int]], tower: str, depth: int
    ) -> Array:
        """Flat states of rows (boundaries counted) after so many blocks of a tower."""
        begin, tokens = self._checked(rows, self.vocabulary)
        x = np.empty((len(tokens), self.width), np.float32)
        kv = (ctypes.c_void_p * len(rows))(*[source.places[tower] for source in sources])
        lengths = (ctypes.c_int32 * len(rows))(*[source.length for source in sources])
        self._run(
            self.library.levt_states,
            ctypes.byref(self.towers[tower]), depth, len(rows), begin, tokens, x, kv, lengths,
        )  # fmt: skip
        return x

    def delete_scores(self, h: Array) -> Array:
        """Scores of keeping (0) and deleting (1) each place."""
        found: Array = self._mapped(self.delete_head, 1, h)[0]
        return found

    def placeholder_scores(self, h: Array) -> Array:
        """Scores of each count between each place and the next; between two rows they mean nothing."""
        # Neighbours lie side by side: a gap is a row of twice the width that begins with its left one.
        found: Array = self._mapped(self.placeholder_head, 1, h, rows=len(h) - 1)[0]
        return found

    def count_scores(self, h: Array) -> tuple[Array, Array, Array]:
        """Of each gap (those between two rows mean nothing) the log π^plh of all counts, the best, and its log π."""
        best, logp = np.empty(len(h) - 1, np.int32), np.empty(len(h) - 1, np.float32)
        scores = self._mapped(
            self.placeholder_head, 1, h, rows=len(h) - 1, best=best, logp=logp, without=-1, first=0
        )
        return scores[0], best, logp

    def token_scores(self, h: Array) -> tuple[Array, Array, Array]:
        """Of each place the log π^tok of all tokens, the best that may be written, and its log π."""
        best, logp = np.empty(len(h), np.int32), np.empty(len(h), np.float32)
        return self._mapped(self.token_head, 1, h, best=best, logp=logp)[0], best, logp

    def best_tokens(self, h: Array) -> tuple[list[int], list[float]]:
        """Of each place the best token that may be written, and its log π; so many at a time that scores stay near."""
        best, logp = list[int](), list[float]()
        for start in range(0, len(h), NEAR):
            _, tokens, scores = self.token_scores(h[start : start + NEAR])
            best += tokens.tolist()
            logp += scores.tolist()
        return best, logp

    def _mapped(
        self,
        linear: Any,
        maps: int,
        x: Array,
        *,
        rows: int | None = None,
        best: Array | None = None,
        logp: Array | None = None,
        without: int = PLH,
        first: int = len(SPECIALS),
    ) -> Array:
        one = linear if isinstance(linear, Linear) else linear[0]
        rows = len(x) if rows is None else rows
        found = np.empty((maps, rows, one.outputs), np.float32)
        self._run(
            self.library.levt_map, ctypes.byref(linear), maps, rows, x, x.shape[1], found, without, first, best, logp
        )  # fmt: skip
        return found

    def _checked(self, rows: Sequence[Sequence[int]], vocabulary: int) -> tuple[Array, Array]:
        """Flat rows: C looks up whatever it is given."""
        begin, tokens = [0], list[int]()
        for row in rows:
            tokens += row
            begin.append(len(tokens))
        longest = max(map(len, rows))
        if longest > self.max_length:
            raise InputError(
                f"a sequence may have at most {self.max_length} tokens with its boundaries, got {longest}",
                hint="split the text, or train a model with a larger max_length",
            )
        if min(tokens) < 0 or max(tokens) >= vocabulary:
            raise IndexError(f"a token must be between 0 and {vocabulary - 1}")
        return np.array(begin, np.int32), np.array(tokens, np.int32)

    def _run(self, function: Any, *given: Any) -> None:
        """Call C; arrays are given by their addresses."""
        if function(*[address(one) if isinstance(one, np.ndarray) else one for one in given], self.threads):
            raise MemoryError("no memory for a pass of the engine native")

    # ---- packing ----

    def _keep(self, array: Array) -> int:
        self._kept.append(np.ascontiguousarray(array))
        return address(self._kept[-1])

    def _linear(
        self, weight: Tensor, bias: Tensor | None = None, *, scale: Any = 1.0, exact: bool = False
    ) -> Linear:
        outputs, inputs = weight.shape
        factor = np.broadcast_to(np.asarray(scale, np.float32), (outputs,))
        w, more = numbers(weight) * factor[:, None], -outputs % PANEL
        b = np.zeros(outputs, np.float32) if bias is None else numbers(bias) * factor
        found = Linear(inputs=inputs, outputs=outputs, bias=self._keep(np.pad(b, (0, more))))
        if exact or not self._bytes:
            floats = np.pad(w, ((0, more), (0, 0))).reshape(-1, PANEL, inputs)
            found.floats = self._keep(floats.transpose(0, 2, 1))
            return found
        q, s = quantised(w)
        q = np.pad(q, ((0, more), (0, -inputs % 4)))
        panels = q.reshape(len(q) // PANEL, PANEL, q.shape[1] // 4, 4)
        found.bytes = self._keep(panels.transpose(0, 2, 1, 3))
        found.scale = self._keep(np.pad(s, (0, more)))
        found.middle = self._keep(-128 * q.sum(1, dtype=np.int32))
        return found

    def _norm(self, norm: nn.Module | None) -> Norm:
        if norm is None:
            return Norm()
        assert isinstance(norm, nn.LayerNorm)
        return Norm(
            gain=self._keep(numbers(norm.weight)), bias=self._keep(numbers(norm.bias)), eps=norm.eps, here=1
        )

    def _stack(self, blocks: nn.ModuleList, embed: Embedder, table: Tensor, norm: nn.Module | None) -> Stack:
        layers = (Layer * len(blocks))(*(self._layer(block) for block in blocks))
        self._kept.append(layers)
        block = blocks[0]
        assert isinstance(block, Block)
        attention, feed = block.self_attention, block.feed_forward
        places = embed.sinusoids if embed.positions is None else embed.positions.weight
        return Stack(
            width=attention.heads * attention.head,
            hidden=feed.into.out_features,
            heads=attention.heads,
            pre_norm=block.pre_norm,
            activation=self._activation,
            positions_here=places is not None,
            cross=block.cross_attention is not None,
            scale=embed.scale,
            table=self._keep(numbers(table)),
            positions=None if places is None else self._keep(numbers(places)),
            embed_norm=self._norm(embed.norm),
            norm=self._norm(norm),
            layers=ctypes.addressof(layers),
        )

    def _layer(self, block: nn.Module) -> Layer:
        assert isinstance(block, Block)
        look, across, feed = block.self_attention, block.cross_attention, block.feed_forward
        scale = np.ones(look.qkv.out_features, np.float32)
        scale[: look.heads * look.head] = look.head**-0.5
        found = Layer(
            qkv=self._linear(look.qkv.weight, look.qkv.bias, scale=scale),
            out=self._linear(look.out.weight, look.out.bias),
            into=self._linear(feed.into.weight, feed.into.bias),
            back=self._linear(feed.out.weight, feed.out.bias),
            self_norm=self._norm(block.self_norm),
            cross_norm=self._norm(block.cross_norm),
            feed_norm=self._norm(block.feed_norm),
        )
        if across is not None:
            found.query = self._linear(across.query.weight, across.query.bias, scale=across.head**-0.5)
            found.cross_out = self._linear(across.out.weight, across.out.bias)
        return found

    def _memory(self, tower: Tower) -> Any:
        """The maps to the keys and values of each layer, [2 d, c], as an array of C."""
        weights, biases = (part.chunk(tower.depth) for part in (tower.memory.weight, tower.memory.bias))
        return (Linear * tower.depth)(*(self._linear(w, b) for w, b in zip(weights, biases, strict=True)))


def numbers(tensor: Tensor) -> Array:
    """The numbers of a tensor, as an array of floats."""
    found: Array = tensor.detach().float().cpu().numpy()
    return found
