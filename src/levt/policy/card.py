"""The card of a model folder, README.md: what the model is for, where it comes from, what it cannot do.

Knows no network: a card is what a person says about a model, written so that the hub understands it too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a person should know before using a model. An empty field is written as not stated."""

    name: str
    """What the model is called."""
    summary: str = ""
    """What it does, in a sentence."""
    languages: tuple[str, ...] = ()
    """Source and target, as two-letter codes."""
    licence: str = ""
    """Licence of the weights, as the hub spells it ("mit", "cc-by-4.0")."""
    data: Mapping[str, str] = field(default_factory=dict)
    """Corpora it was trained on, each with its licence."""
    command: str = ""
    """Command that trained it."""
    scores: Mapping[str, str] = field(default_factory=dict)
    """Scores by name; a name says test set and signature."""
    intended_use: str = ""
    """What it is meant for."""
    limits: str = ""
    """What it does badly or must not be used for."""

    def render(self) -> str:
        """The text of README.md.

        >>> print(Card(name="toy", data={"digits": "public domain"}).render().splitlines()[6])
        # toy
        """
        head: dict[str, object] = {"library_name": "levt", "pipeline_tag": "translation"}
        if self.licence:
            head["license"] = self.licence
        if self.languages:
            head["language"] = list(self.languages)
        head["tags"] = ["levenshtein-transformer", "text-editing"]
        # Every JSON value is a YAML value, so nothing in it needs a YAML writer.
        front = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
        parts = [
            "\n".join(["---", *front, "---"]),
            f"# {self.name}",
            self.summary or "A model for text generation by editing, made with levt.",
            '```python\nimport levt\n\nmodel = levt.load("this folder")\n```',
            f"## Intended use\n\n{self.intended_use or 'Not stated.'}",
            f"## Limits\n\n{self.limits or 'Not stated.'}",
            f"## Data and licences\n\n{_table('corpus', 'licence', self.data)}",
            f"## Scores\n\n{_table('test', 'score', self.scores)}",
            "## Training\n\n" + (f"```sh\n{self.command}\n```" if self.command else "Not stated."),
        ]
        return "\n\n".join(parts) + "\n"


def _table(left: str, right: str, rows: Mapping[str, str]) -> str:
    """Two columns, or the words that nothing is known."""
    if not rows:
        return "Not stated."
    lines = [f"| {left} | {right} |", "|---|---|"]
    lines += [f"| {_cell(key)} | {_cell(value)} |" for key, value in rows.items()]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """A text that cannot end its cell."""
    return " ".join(text.split()).replace("|", "\\|")
