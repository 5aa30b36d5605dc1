"""Working with an oracle: a policy of which a person (or here, a reference) makes some decisions.

Figure 5 of the paper: at every iteration the oracle gives the deletions, or the deletions and the number of
placeholders in every gap; the rest is the model's.
"""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from levt.edits.oracle import oracle
from levt.edits.state import State
from levt.refine.phases import Memory, Policy
from levt.refine.request import Tokens

Help = Literal["delete", "delete+placeholder"]
"""What the oracle decides."""

SURE = 1e4
"""Log-odds of a decision of the oracle: no penalty outweighs it, and of all reluctance to edit only 1, leave alone."""


@dataclass(frozen=True)
class OracleMemory:
    """What a policy remembers of its sources, and the reference of each."""

    memory: Memory
    target: Int[Tensor, "b t"]
    """References with their boundaries."""

    @classmethod
    def of(
        cls, memory: Memory, references: list[Tokens], device: torch.device | str = "cpu"
    ) -> "OracleMemory":
        """A memory with its references (tokens without boundaries)."""
        return cls(memory, State.of(references, device=device).y)

    def select(self, rows: Int[Tensor, "r"]) -> "OracleMemory":
        """Some of the rows."""
        return OracleMemory(self.memory.select(rows), self.target.index_select(0, rows))


@dataclass(frozen=True)
class OraclePolicy:
    """A policy that asks the oracle first; its memory must be an ``OracleMemory``."""

    policy: Policy
    help: Help = "delete"

    def delete(self, memory: OracleMemory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        """The deletions of the oracle."""
        return one_hot(oracle(y, memory.target).drop.long(), 2)

    def placeholder(self, memory: OracleMemory, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        """The counts of the oracle, if it gives them; else the model's."""
        if self.help == "delete":
            return self.policy.placeholder(memory.memory, y)
        counts = oracle(y, memory.target).counts
        return one_hot(counts, memory.target.shape[1])

    def token(
        self, memory: OracleMemory, y: Int[Tensor, "b n"], where: Bool[Tensor, "b n"]
    ) -> Float[Tensor, "p v"]:
        """The tokens are always the model's."""
        logits: Tensor = self.policy.token(memory.memory, y, where)
        return logits


def one_hot(choice: Int[Tensor, "*n"], classes: int) -> Float[Tensor, "*n k"]:
    """Log-probabilities of a decision that is made.

    >>> one_hot(torch.tensor([1]), 2).tolist()
    [[-10000.0, 0.0]]
    """
    column: Any = torch.arange(classes, device=choice.device)
    return torch.where(column == choice.unsqueeze(-1), 0.0, -SURE)
