"""How a model that writes from left to right is asked for one token at a time. Knows no search."""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

from levt.policy.memory import Memory


@runtime_checkable
class Cache(Protocol):
    """What a model remembers of the tokens written so far. ``step`` changes it in place; its shapes stay."""

    @property
    def rows(self) -> int:
        """Number of hypotheses."""
        ...

    def select(self, rows: Int[Tensor, "r"]) -> Any:
        """A new cache of these rows, in the order given; a row may come more than once."""
        ...

    def copy_(self, other: Any) -> None:
        """Take over the contents of another cache of the same shape (for captured graphs)."""
        ...


@runtime_checkable
class Stepwise(Protocol):
    """A model that writes from left to right."""

    def start(self, memory: Memory, width: int, copies: int = 1) -> Any:
        """An empty cache for ``width`` tokens (``<s>`` included) of ``copies`` hypotheses for each source.

        Row r of the cache belongs to row r // copies of the memory.
        """
        ...

    def step(self, memory: Memory, tokens: Int[Tensor, "r"], cache: Any) -> Float[Tensor, "r v"]:
        """Take one more token of each row (``<s>`` first) and score the next."""
        ...

    def reorder(self, cache: Any, rows: Int[Tensor, "r"]) -> Any:
        """The cache of hypotheses that continue these rows."""
        ...
