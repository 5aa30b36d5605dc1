"""The Levenshtein Transformer: one encoder, one to three decoder towers, three policies.

``delete``, ``placeholder`` and ``token`` are the policies: they give log π over padded states. Teaching and
fast engines use the pieces: ``hidden`` gives states, ``*_logits`` the classifiers' scores. Logits are over
all classes, so that log π is what the paper's softmax gives; that the token policy produces no ``<pad>``,
``<s>``, ``</s>`` or ``<plh>`` is a rule of decoding, applied by ``forbid`` after normalisation.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from levt.policy.config import POLICIES, LevTConfig, Policy
from levt.policy.decoder import Tower
from levt.policy.layout import Layout, Padded
from levt.policy.memory import Memory
from levt.policy.scores import forbid, log_softmax, log_softmax_tokens
from levt.policy.transformer import Transformer


class LevT(Transformer):
    """The Levenshtein Transformer."""

    def __init__(self, config: LevTConfig) -> None:
        super().__init__(config)
        self.config = config
        d, k = config.width, config.max_count + 1
        self.decoders = nn.ModuleDict()
        for group, depth in config.depths.items():
            name = "_".join(group)
            self.decoders[name] = Tower(config, name=name, depth=depth)
        self.delete_head = nn.Parameter(torch.randn(2, d) * d**-0.5)
        self.placeholder_head = nn.Parameter(torch.randn(k, 2 * d) * (2 * d) ** -0.5)

    def tower(self, group: tuple[Policy, ...]) -> Tower:
        """The tower of a group of policies."""
        tower = self.decoders["_".join(group)]
        assert isinstance(tower, Tower)
        return tower

    @property
    def towers(self) -> dict[Policy, Tower]:
        """The tower on which each policy stands."""
        found = {policy: self.tower(group) for group in self.config.depths for policy in group}
        return {policy: found[policy] for policy in POLICIES}

    def encode(self, x: Int[Tensor, "*s"], layout: Layout | None = None) -> Memory:
        """Read the sources; the layout of padded rows may be left out."""
        states, layout = self.read(x, layout)
        towers = [self.tower(group) for group in self.config.depths]
        return Memory(states, layout, {tower.name: tower.remember(states, layout) for tower in towers})

    def hidden(
        self, memory: Memory, y: Int[Tensor, "*n"], layout: Layout, policy: Policy
    ) -> Float[Tensor, "*n d"]:
        """States of y for one policy: its tower, up to its exit.

        With c times as many rows as the memory has, row r of y reads row r // c of the memory.
        """
        x = self.embed_target(y, layout)
        states: Tensor = self.towers[policy](x, layout, memory, self.config.exit_of(policy))
        return states

    def delete_logits(self, h: Float[Tensor, "*n d"]) -> Float[Tensor, "*n 2"]:
        """Scores of keeping (0) and deleting (1) each token: h_i · Aᵀ, Eq. (3), whose 0 and 1 are ours reversed."""
        return F.linear(h, self.delete_head)

    def placeholder_logits(self, h: Float[Tensor, "*b n d"]) -> Float[Tensor, "*b g k"]:
        """Scores of each count in each gap: concat(h_i, h_{i+1}) · Bᵀ, Eq. (4); g = n − 1.

        In flat states the gaps between two rows are scored too, and mean nothing.
        """
        return self.count_logits(torch.cat([h[..., :-1, :], h[..., 1:, :]], -1))

    def count_logits(self, pairs: Float[Tensor, "*g e"]) -> Float[Tensor, "*g k"]:
        """The same for neighbours that are already joined, e = 2 d."""
        return F.linear(pairs, self.placeholder_head)

    def delete(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        """The log π^del: keep (0) or delete (1) each token of padded states."""
        return log_softmax(self.delete_logits(self.hidden(memory, y, Padded.of(y), "delete")))

    def placeholder(self, memory: Memory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        """The log π^plh: how many placeholders to open in each gap of padded states."""
        return log_softmax(self.placeholder_logits(self.hidden(memory, y, Padded.of(y), "placeholder")))

    @property
    def alike(self) -> bool:
        """Whether deletions and placeholders see a state alike."""
        return self.config.shares("delete", "placeholder")

    def look(
        self, memory: Memory, y: Int[Tensor, "b n"]
    ) -> tuple[Float[Tensor, "b n 2"], Float[Tensor, "b g k"]]:
        """Both at one look, for policies that see a state alike."""
        h = self.hidden(memory, y, Padded.of(y), "delete")
        return log_softmax(self.delete_logits(h)), log_softmax(self.placeholder_logits(h))

    def token(
        self, memory: Memory, y: Int[Tensor, "b n"], where: Bool[Tensor, "b n"] | None = None
    ) -> Float[Tensor, "*p v"]:
        """The log π^tok at every place, or at those asked for, row by row; −∞ for what is never produced.

        Only at the places asked for is the vocabulary scored, which costs more than the tower; but to ask
        is to wait for the device.
        """
        h = self.hidden(memory, y, Padded.of(y), "token")
        return forbid(log_softmax_tokens(self.token_logits(h if where is None else h[where])))
