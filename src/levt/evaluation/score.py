"""Score: a number that says how it was computed. Knows no metric."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Score:
    """One number of one system on one corpus."""

    name: str
    """What was measured, as a reader knows it: ``BLEU``, ``chrF2``, ``ROUGE-L``."""
    value: float
    """Scores and shares are in percent."""
    signature: str = ""
    """Everything that another needs to get the same number."""
    interval: tuple[float, float] | None = None
    """95 % confidence, from bootstrap resampling; ``None`` where nobody asked."""
    p_value: float | None = None
    """How likely so large a difference from the baseline is by chance; ``None`` where there is no baseline."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; what is not known has no key."""
        known: dict[str, Any] = {"name": self.name, "value": self.value}
        if self.signature:
            known["signature"] = self.signature
        if self.interval is not None:
            known["interval"] = list(self.interval)
        if self.p_value is not None:
            known["p_value"] = self.p_value
        return known
