"""The Levenshtein Transformer: one encoder, one to three decoder towers, three policies.

``delete``, ``placeholder`` and ``token`` are the policies: they give log π over padded states. Teaching and
fast engines use the pieces: ``hidden`` gives states, ``*_logits`` the classifiers' scores. Logits are over
all classes, so that log π is what the paper's softmax gives; that the token policy produces no ``<pad>``,
``<s>``, ``</s>`` or ``<plh>`` is a rule of decoding, applied by ``forbid`` after normalisation.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.policy.config import POLICIES, LevTConfig, Policy
from levt.policy.decoder import Tower
from levt.policy.embedding import Embedder, token_table
from levt.policy.encoder import Encoder
from levt.policy.layout import Layout, Padded
from levt.policy.memory import Memory
from levt.text.specials import BOS, EOS, PAD, PLH

NEVER_PRODUCED = (PAD, BOS, EOS, PLH)
"""Symbols that no token policy writes."""


def forbid(scores: Float[Tensor, "*n v"]) -> Float[Tensor, "*n v"]:
    """Scores of tokens, with −∞ for the symbols that are never produced.

    >>> forbid(torch.zeros(6)).tolist()
    [-inf, -inf, -inf, 0.0, -inf, 0.0]
    """
    column = torch.arange(scores.shape[-1], device=scores.device)
    never = (column <= EOS) | (column == PLH)
    return scores.masked_fill(never, float("-inf"))


class LevT(nn.Module):
    """The Levenshtein Transformer."""

    def __init__(self, config: LevTConfig) -> None:
        super().__init__()
        self.config = config
        d = config.width
        self.target_tokens = token_table(config.target_vocabulary, d)
        self.source_tokens = (
            None
            if config.joint_embeddings
            else token_table(config.source_vocabulary, config.of_encoder("width"))
        )
        self.output = None if config.tie_output else token_table(config.target_vocabulary, d)
        self.encoder = Encoder(config)
        self.embed = Embedder(
            width=d,
            max_length=config.max_length,
            positions=config.positions,
            scale=config.scale_embedding,
            normalise=config.normalise_embedding,
            dropout=config.dropout,
        )
        self.decoders = nn.ModuleDict(
            {
                name: Tower(config, name=name, depth=depth)
                for name, depth in (("_".join(g), depth) for g, depth in config.depths.items())
            }
        )
        self.delete_head = nn.Parameter(torch.randn(2, d) * d**-0.5)
        self.placeholder_head = nn.Parameter(torch.randn(config.max_count + 1, 2 * d) * (2 * d) ** -0.5)

    @property
    def towers(self) -> dict[Policy, Tower]:
        """The tower on which each policy stands."""
        found: dict[Policy, Tower] = {}
        for group in self.config.depths:
            tower = self.decoders["_".join(group)]
            assert isinstance(tower, Tower)
            found.update(dict.fromkeys(group, tower))
        return {policy: found[policy] for policy in POLICIES}

    def encode(self, x: Int[Tensor, "*s"], layout: Layout | None = None) -> Memory:
        """Read the sources; the layout of padded rows may be left out."""
        layout = Padded.of(x) if layout is None else layout
        table = self.target_tokens if self.source_tokens is None else self.source_tokens
        states = self.encoder(self.encoder.embed(table.weight, x, layout), layout)
        return self.remember(states, layout)

    def remember(self, states: Float[Tensor, "*s d"], layout: Layout) -> Memory:
        """The memory of encoder states: keys and values for every layer of every tower."""
        kv = {tower.name: tower.remember(states, layout) for tower in self.towers.values()}
        return Memory(states, layout, kv)

    def hidden(
        self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout, policy: Policy
    ) -> Float[Tensor, "*n d"]:
        """States of y for one policy: its tower, up to its exit.

        With c times as many rows as the memory has, row r of y reads row r // c of the memory.
        """
        x = self.embed(self.target_tokens.weight, y, layout)
        states: Tensor = self.towers[policy](x, layout, memory, self.config.exit_of(policy))
        return states

    def delete_logits(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n 2"]:
        """Scores of keeping (0) and deleting (1) each token: h_i · Aᵀ."""
        return F.linear(h, self.delete_head)

    def placeholder_logits(self, h: Float[Tensor, "*b n d"]) -> Float[Tensor, "*b g k"]:
        """Scores of each count in each gap: concat(h_i, h_{i+1}) · Bᵀ; g = n − 1.

        In flat states the gaps between two rows are scored too, and mean nothing.
        """
        return F.linear(torch.cat([h[..., :-1, :], h[..., 1:, :]], -1), self.placeholder_head)

    def token_logits(self, h: Float[Tensor, "*p d"]) -> Float[Tensor, "*p v"]:
        """Scores of each token at the places handed in: h_i · Cᵀ, C being the embedding."""
        return F.linear(h, (self.target_tokens if self.output is None else self.output).weight)

    def delete(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        """The log π^del: keep (0) or delete (1) each token of padded states."""
        return log_softmax(self.delete_logits(self.hidden(memory, y, Padded.of(y), "delete")))

    def placeholder(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        """The log π^plh: how many placeholders to open in each gap of padded states."""
        return log_softmax(self.placeholder_logits(self.hidden(memory, y, Padded.of(y), "placeholder")))

    def token(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n v"]:
        """The log π^tok at every position (meant for placeholders), −∞ for what is never produced."""
        return forbid(log_softmax(self.token_logits(self.hidden(memory, y, Padded.of(y), "token"))))


def log_softmax(logits: Float[Tensor, "*n k"]) -> Float[Tensor, "*n k"]:
    """Normalise over the last axis, in single precision."""
    return F.log_softmax(logits, -1, dtype=torch.float32)
