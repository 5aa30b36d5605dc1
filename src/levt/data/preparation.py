"""Settings of a preparation, and what it reports. Reads and writes nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from levt.data.read import Sieve
from levt.errors import ConfigError, raise_all
from levt.text.normalise import Normalisation

TRAIN = "train"
"""The split that teaches the vocabulary, and from which lines may be skipped; others are kept whole."""

Progress = Callable[[str, int, int], None]
"""Told the name of a stage, the bytes read and the bytes in all (0 where they are not known)."""


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How text becomes stores."""

    vocabulary: int = 8000
    """Size of the vocabulary to learn, symbols and bytes included; unused where tokenizers are given."""
    separate: bool = False
    """Whether source and target have a vocabulary each."""
    normalisation: Normalisation = field(default_factory=Normalisation)
    """What is made equal in the text; a given tokenizer has its own."""
    max_length: int = 512
    """Longest source, draft or target for training, in tokens with boundaries; longer ones are skipped."""
    strict: bool = False
    """Whether a line of training data that cannot serve is an error rather than skipped."""
    skip_broken: bool = False
    """Whether lines of training data that are not UTF-8 or have wrong columns are skipped, not an error."""
    drop_overlap: bool = False
    """Whether training examples whose source is also in another split are skipped."""
    sample: int = 400_000
    """Training examples from which a vocabulary is learnt, at most."""
    sample_characters: int = 150_000_000
    """Their characters, at most."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be at least {least}, got {getattr(self, name)}"
            for name, least in (("max_length", 3), ("sample", 1), ("sample_characters", 1))
            if getattr(self, name) < least
        ]
        if self.strict and self.skip_broken:
            problems.append("strict and skip_broken exclude each other")
        raise_all(ConfigError, "preparation", problems, hint="`levt prepare --help` explains each setting")

    def sieve(self, split: str) -> Sieve:
        """Lines of training data may go; those of the other splits are all kept, or it is an error."""
        if split != TRAIN:
            return Sieve(empty="keep", long="error", broken="error", max_bytes=1 << 20)
        verdict: Literal["skip", "error"] = "error" if self.strict else "skip"
        return Sieve(empty=verdict, long=verdict, broken="skip" if self.skip_broken else "error")


@dataclass(frozen=True, kw_only=True)
class SplitReport:
    """What became of one split."""

    examples: int
    """Examples in the store."""
    skipped: dict[str, int]
    """How many lines were left out, by reason."""
    tokens: dict[str, int]
    """Tokens of each field, boundaries not counted."""
    longest: dict[str, int]
    """Tokens of the longest row of each field."""
    seconds: float
    """Time it took."""
