"""The graphs of the Levenshtein Transformer, none of which repeats a weight of another.

    TOWER.i     a state (and what TOWER.i−1 gave) → states h; one part up to every exit of the tower
    delete, placeholder, token      h → scores; those of tokens only at the places asked for

So the pass of a policy is a chain of graphs, and policies that share a tower share its place in memory and cache.
"""

from collections.abc import Mapping

import numpy as np

from levt.engine.onnx_layers import array
from levt.engine.onnx_linear import Float
from levt.engine.onnx_writer import Writer
from levt.policy.config import POLICIES, Policy
from levt.policy.decoder import Tower
from levt.policy.levt import LevT


def write_levt(writer: Writer, network: LevT) -> None:
    """All graphs of a network."""
    config = network.config
    towers = {group: network.tower(group) for group in config.depths}
    writer.encode(list(towers.values()))
    for group, tower in towers.items():
        write_tower(writer, tower, {policy: config.exit_of(policy) for policy in group})
    for policy in POLICIES:
        write_head(writer, network, policy)


def write_tower(writer: Writer, tower: Tower, exits: Mapping[Policy, int]) -> None:
    """The graphs of a tower, and the chains of the policies that leave it at these depths."""
    width, first = writer.network.config.width, 0
    names: list[str] = []
    for last in sorted(set(exits.values())):
        layers = writer.layers(f"{tower.name}.{len(names)}")
        names.append(layers.g.name)
        y = layers.g.input("y", ["b", "n"], np.int64)
        h = layers.g.input("h", ["t", width]) if first else writer.embed(layers, y)
        h = writer.blocks(layers, h, tower, first, last, y)
        layers.g.output("states", h, ["t", width])
        writer.finish(layers)
        writer.chains.update({policy: [*names, policy] for policy, at in exits.items() if at == last})
        first = last


def write_head(writer: Writer, network: LevT, policy: Policy) -> None:
    """The classifier of a policy. Those of delete and placeholder are small, and decide most: they stay exact."""
    layers, tower = writer.layers(policy), network.towers[policy]
    g, config = layers.g, network.config
    h = g.input("h", ["t", config.width])
    if policy == "token":
        places = g.input("places", ["p"], np.int64)
        writer.scores(layers, g.op("Gather", h, places), tower, normalised=True)
    elif policy == "delete":
        h = writer.closed(layers, h, tower)
        g.output("scores", Float().linear(g, h, "delete_head", array(network.delete_head)), ["t", 2])
    else:
        # The gaps between two rows are scored, too; they mean nothing and are left out by the reader.
        h, zero = writer.closed(layers, h, tower), g.constant([0])
        left = g.op("Slice", h, zero, g.constant([-1]), zero)
        right = g.op("Slice", h, g.constant([1]), g.constant([2**60]), zero)
        pairs = g.op("Concat", left, right, axis=-1)
        scores = Float().linear(g, pairs, "placeholder_head", array(network.placeholder_head))
        g.output("scores", scores, ["g", config.max_count + 1])
    writer.finish(layers)
