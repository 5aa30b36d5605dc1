"""Text normalisation: which differences between texts the tokenizer does not see. Knows no vocabulary."""

from dataclasses import dataclass
from typing import Literal

from tokenizers import Regex, normalizers

from levt.errors import ConfigError, raise_all, wrong_choices

Form = Literal["NFC", "NFKC", "none"]


@dataclass(frozen=True, kw_only=True)
class Normalisation:
    """What is made equal before tokenisation; decoding gives back the normalised text.

    >>> Normalisation(collapse_spaces=True)("  e\\u0301t\\u00e9 ")
    'été'
    """

    form: Form = "NFC"
    """Unicode normal form; NFKC also folds full-width letters, ligatures and the like."""
    lowercase: bool = False
    """Whether capitals are lost."""
    collapse_spaces: bool = False
    """Whether every run of white space becomes one space, and none is left at the ends."""

    def __post_init__(self) -> None:
        raise_all(ConfigError, "normalisation", wrong_choices(self), hint="leave it out for NFC")

    def steps(self) -> list[normalizers.Normalizer]:
        """The steps in the language of ``tokenizers``.

        Not ``unicodedata``: its tables may be of another Unicode version than those the tokenizer uses.
        """
        form = {"NFC": normalizers.NFC, "NFKC": normalizers.NFKC}.get(self.form)
        steps: list[normalizers.Normalizer] = [] if form is None else [form()]
        if self.lowercase:
            # Small letters may compose where capitals do not, so the form is taken once more.
            steps += [normalizers.Lowercase(), *steps]
        if self.collapse_spaces:
            steps += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
        return steps

    def __call__(self, text: str) -> str:
        """The normalised text."""
        normalised: str = normalizers.Sequence(self.steps()).normalize_str(text)
        return normalised
