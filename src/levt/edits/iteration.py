"""Iteration: one edit script with the text and the probabilities that belong to it. Knows no policy."""

from dataclasses import dataclass
from typing import Any

from levt.edits.read_json import build, read_floats, read_object, read_strings
from levt.edits.script import EditScript
from levt.errors import InputError, raise_all


@dataclass(frozen=True, kw_only=True)
class Iteration:
    """One delete–insert–fill round, with the probabilities the policy gave to what was decided.

    A probability is that of the decision taken: of keeping where a token was kept, of the count that was
    opened (of the one that was wanted, where the longest state allowed cut it), of the token that was filled in.
    Whoever decided: what a person forced has the probability that the policy gave to it. ``None`` where nobody
    computed them.
    """

    script: EditScript
    """The edits."""
    pieces: tuple[str, ...]
    """The text of each filled token; a piece that starts with ``▁`` begins a new word."""
    drop_probs: tuple[float, ...] | None = None
    """One per deletion decision, in the order of ``script.drop``."""
    counts_probs: tuple[float, ...] | None = None
    """One per gap, in the order of ``script.counts``."""
    fill_probs: tuple[float, ...] | None = None
    """One per filled token, in the order of ``script.fill``."""

    def __post_init__(self) -> None:
        problems = []
        if len(self.pieces) != len(self.script.fill):
            problems.append(
                f"pieces must have one text per filled token, {len(self.script.fill)} here, "
                f"got {len(self.pieces)}"
            )
        for name, probs in self.probs().items():
            decisions = len(getattr(self.script, name))
            if len(probs) != decisions:
                problems.append(f"{name}_probs must have {decisions} numbers, like {name}, got {len(probs)}")
            problems += [
                f"{name}_probs must lie between 0 and 1, got {p} at position {i}"
                for i, p in enumerate(probs)
                if not 0 <= p <= 1
            ]
        raise_all(InputError, "iteration", problems)

    def probs(self) -> dict[str, tuple[float, ...]]:
        """The probabilities that are known, by the name of the edit they belong to."""
        known = {"drop": self.drop_probs, "counts": self.counts_probs, "fill": self.fill_probs}
        return {name: probs for name, probs in known.items() if probs is not None}

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; probabilities that are not known have no key."""
        probs = {f"{name}_probs": list(probs) for name, probs in self.probs().items()}
        return {"script": self.script.to_json(), "pieces": list(self.pieces), **probs}

    @classmethod
    def from_json(cls, value: Any, where: str = "iteration") -> "Iteration":
        """The iteration that ``to_json`` wrote; anything else is an InputError."""
        optional = {"drop_probs", "counts_probs", "fill_probs"}
        fields = read_object(value, where, {"script", "pieces"}, optional)
        return build(
            cls,
            where,
            script=EditScript.from_json(fields["script"], f"{where}.script"),
            pieces=read_strings(fields["pieces"], f"{where}.pieces"),
            **{key: read_floats(fields[key], f"{where}.{key}") for key in optional & fields.keys()},
        )
