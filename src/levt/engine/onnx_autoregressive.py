"""The graphs of the model that writes from left to right.

step    one more token of each hypothesis and the cache → scores of the next, and the longer cache
score   whole targets → scores after every token
"""

import numpy as np

from levt.engine.onnx_writer import Writer
from levt.policy.autoregressive import Autoregressive
from levt.policy.blocks import Block


def write_autoregressive(writer: Writer, network: Autoregressive) -> None:
    """All graphs of a network."""
    writer.encode([network.decoder])
    write_step(writer, network)
    write_score(writer, network)


def write_step(writer: Writer, network: Autoregressive) -> None:
    """Tokens [b, c], c hypotheses of each source; the cache has a row for each, r = b c, and t tokens."""
    tower, layers = network.decoder, writer.layers("step")
    g = layers.g
    y = g.input("y", ["b", "c"], np.int64)
    real = g.input("real", ["b", "s"], np.bool_)
    before = [
        tuple(g.input(f"past_{part}.{i}", ["r", tower.heads, "t", tower.head]) for part in ("key", "value"))
        for i in range(tower.depth)
    ]
    place = g.op("Shape", before[0][0], start=2, end=3)
    h = writer.embed(layers, y, place)
    for i, kv in enumerate(writer.memory(layers, tower, 0, tower.depth)):
        block, past = tower.blocks[i], before[i]
        assert isinstance(block, Block)
        h, cache = layers.next_block(h, block, f"{tower.name}.blocks.{i}", y=y, past=past, kv=kv, real=real)
        for part, value in zip(("key", "value"), cache, strict=True):
            g.output(f"longer_{part}.{i}", value, ["r", tower.heads, "t+1", tower.head])
    writer.scores(layers, h, tower)
    writer.finish(layers)
    writer.chains["step"] = ["step"]


def write_score(writer: Writer, network: Autoregressive) -> None:
    """Targets [b, n], padded on the right."""
    layers = writer.layers("score")
    y = layers.g.input("y", ["b", "n"], np.int64)
    h = writer.embed(layers, y)
    h = writer.blocks(layers, h, network.decoder, 0, network.decoder.depth, y, causal=True)
    writer.scores(layers, h, network.decoder)
    writer.finish(layers)
    writer.chains["score"] = ["score"]
