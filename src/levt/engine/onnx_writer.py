"""Graphs that every kind of Transformer has: the encoder, blocks over whole states, the scores of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from levt.engine.onnx_graph import Weights
from levt.engine.onnx_layers import Layers, array
from levt.engine.onnx_linear import Precision
from levt.policy.autoregressive import Autoregressive
from levt.policy.blocks import Block
from levt.policy.decoder import Tower
from levt.policy.levt import LevT
from levt.text.specials import PLH


@dataclass(frozen=True)
class Writer:
    """Writes the graphs of a network into a folder."""

    network: LevT | Autoregressive
    folder: Path
    weights: Weights
    precision: Precision
    chains: dict[str, list[str]] = field(default_factory=dict)
    """Of every pass, the graphs that it runs one after another."""

    def layers(self, name: str) -> Layers:
        """A new graph."""
        return Layers(name, self.weights, self.precision, self.network.config.activation)

    def finish(self, layers: Layers) -> None:
        """Write a graph."""
        layers.g.write(self.folder / f"{layers.g.name}.onnx")

    def encode(self, towers: Sequence[Tower]) -> None:
        """Sources → keys and values of every layer of every tower, [2 l, b, h, s, e]."""
        network, layers = self.network, self.layers("encode")
        g, encoder = layers.g, network.encoder
        x = g.input("x", ["b", "s"], np.int64)
        table = "target_tokens" if network.source_tokens is None else "source_tokens"
        h = layers.embed(encoder.embed, "encoder.embed", network.source_table, table, x)
        for i, block in enumerate(encoder.blocks):
            assert isinstance(block, Block)
            h = layers.block(h, block, f"encoder.blocks.{i}", y=x)
        if encoder.norm is not None:
            h = layers.norm(h, encoder.norm, "encoder.norm")
        for tower in towers:
            kv = layers.linear(h, tower.memory, f"{tower.name}.memory")
            parts = g.constant([2 * tower.depth, tower.heads, tower.head])
            kv = g.op("Reshape", kv, g.op("Concat", g.op("Shape", x), parts, axis=0))
            kv = g.op("Transpose", kv, perm=[2, 0, 3, 1, 4])
            g.output(f"kv.{tower.name}", kv, [2 * tower.depth, "b", tower.heads, "s", tower.head])
        self.finish(layers)
        self.chains["encode"] = ["encode"]

    def memory(self, layers: Layers, tower: Tower, first: int, last: int) -> list[tuple[str, str]]:
        """Inputs for the keys and values of some layers."""
        shape: list[int | str] = ["b", tower.heads, "s", tower.head]
        return [
            (layers.g.input(f"key.{i}", shape), layers.g.input(f"value.{i}", shape))
            for i in range(first, last)
        ]

    def embed(self, layers: Layers, y: str, place: str | None = None) -> str:
        """What enters a tower."""
        network = self.network
        return layers.embed(network.embed, "embed", network.target_tokens.weight, "target_tokens", y, place)

    def blocks(
        self, layers: Layers, h: str, tower: Tower, first: int, last: int, y: str, *, causal: bool = False
    ) -> str:
        """Some blocks of a tower over whole states y."""
        real = layers.g.input("real", ["b", "s"], np.bool_)
        for i, kv in enumerate(self.memory(layers, tower, first, last), first):
            block = tower.blocks[i]
            assert isinstance(block, Block)
            h = layers.block(h, block, f"{tower.name}.blocks.{i}", y=y, kv=kv, real=real, causal=causal)
        return h

    def scores(self, layers: Layers, h: str, tower: Tower, *, normalised: bool = False) -> None:
        """The scores of tokens as the output of a graph, or, normalised over all but ``<plh>``, their log π."""
        g, network = layers.g, self.network
        apart = network.output
        table, name = (network.target_tokens, "target_tokens") if apart is None else (apart, "output")
        never = [PLH] if normalised else []
        scores = self.precision.linear(
            g, self.closed(layers, h, tower), name, array(table.weight), never=never
        )
        scores = g.op("LogSoftmax", scores, axis=-1) if normalised else scores
        g.output("scores", scores, ["p", network.config.target_vocabulary])

    def closed(self, layers: Layers, h: str, tower: Tower) -> str:
        """The normalisation that closes every exit of a tower, if it has one."""
        return h if tower.norm is None else layers.norm(h, tower.norm, f"{tower.name}.norm")
