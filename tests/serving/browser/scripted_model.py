"""A model that does what a test expects: word by word from a small dictionary, with a flaw that it repairs.

Speaks of tokens and pieces as the real one does, and keeps to locks, crossings-out, requests and bans.
"""

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from levt.edits.script import EditScript, between

FIRST = 261
WORDS = {
    "a": "Ein", "the": "der", "dog": "Hund", "cat": "Katze", "runs": "läuft", "jumps": "springt", "over": "über",
    "snow": "Schnee", "deep": "tiefen", "black": "schwarzer", "and": "und", "sleeps": "schläft", "house": "Haus",
    "two": "Zwei", "dogs": "Hunde", "run": "laufen", "quickly": "schnell", "hurdle": "Hindernis",
}  # fmt: skip
OTHERS = {"Hund": "Welpe", "läuft": "rennt", "Katze": "Mieze"}
"""What the model writes when a word may not stand."""
FLAWS = {"läuft": "geht", "springt": "geht"}
"""What it writes at first."""
LONG = 7
"""Words of more letters have two pieces."""


def cut(text: str, *, inside: bool = False) -> list[str]:
    """Pieces of a text."""
    pieces: list[str] = []
    for space, word in re.findall(r"(\s*)(\w+|[^\w\s])", text if inside else f" {text}"):
        mark = "▁" if space else ""
        pieces += [mark + word] if len(word) <= LONG else [mark + word[:LONG], word[LONG:]]
    return pieces


@dataclass
class Vocabulary:
    """Ids of pieces, given as they come."""

    pieces: list[str] = field(default_factory=list)

    def ids(self, pieces: list[str]) -> list[int]:
        for piece in pieces:
            if piece not in self.pieces:
                self.pieces.append(piece)
        return [FIRST + self.pieces.index(piece) for piece in pieces]

    def of(self, ids: list[int]) -> list[str]:
        return [self.pieces[i - FIRST] for i in ids]

    def text(self, ids: list[int]) -> str:
        return "".join(self.of(ids)).replace("▁", " ").removeprefix(" ")


@dataclass
class ScriptedModel:
    """The model."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)

    def encode(self, text: str, *, inside: bool = False) -> list[int]:
        return self.vocabulary.ids(cut(text, inside=inside))

    def target(self, source: str, terms: list[str], never: set[str]) -> list[int]:
        """What the model would like to stand there."""
        said = []
        for word in re.findall(r"\w+|[^\w\s]+", source):
            german = WORDS.get(word.lower(), word)
            said.append(OTHERS.get(german, "etwas") if german in never else german)
        missing = [term for term in terms if term not in said]
        end = [said.pop()] if said and not said[-1].isalnum() else []
        return self.encode(" ".join(said + missing) + "".join(end))

    def refine(
        self, source: str, state: dict[str, Any], terms: list[str], min_edit: float
    ) -> list[list[int]]:
        """The states of a refinement from a state, the first and the one that only confirms included."""
        tokens, n = state["tokens"], len(state["tokens"])
        locked = state.get("locked") or [False] * n
        drop = state.get("drop") or [False] * n
        counts = state.get("counts") or [None] * (n + 1)
        words = state.get("words") or [None] * (n + 1)
        counts = [count if word is None else word for count, word in zip(counts, words, strict=True)]
        if min_edit == 1:
            return [tokens, tokens]
        crossed = [token for token, gone in zip(tokens, drop, strict=True) if gone]
        never = {self.vocabulary.text([token]).strip() for token in crossed}
        never |= {self.vocabulary.text(list(ban)).strip() for ban in state.get("banned") or []}
        wanted = self.target(source, terms, never)
        # A crossed-out token is like no other.
        mine = [-1 - i if gone else token for i, (token, gone) in enumerate(zip(tokens, drop, strict=True))]
        blocks = SequenceMatcher(None, mine, wanted, autojunk=False).get_matching_blocks()
        edges = [(0, 0), *((a + i, b + i) for a, b, size in blocks for i in range(size)), (n, len(wanted))]
        result: list[int] = []
        for (a, b), (next_a, next_b) in pairwise([(-1, -1), *edges[1:]]):
            asked = sum(counts[g] or 0 for g in range(a + 1, next_a + 1))
            kept = [tokens[i] for i in range(a + 1, next_a) if locked[i]]
            closed = any(counts[g] == 0 for g in range(a + 1, next_a + 1))
            fresh = wanted[b + 1 : next_b]
            if asked:
                result += kept + (fresh + self.encode("sehr " * asked))[:asked]
            else:
                result += kept or ([] if closed else fresh)
            if next_a < n:
                result.append(tokens[next_a])
        return [tokens, result, result] if result != tokens else [tokens, tokens]

    def translate(self, source: str, terms: list[str], never: set[str]) -> list[list[int]]:
        """The states from nothing, by way of a flaw."""
        wanted = self.target(source, terms, never)
        flawed = [self.flaw(token) for token in wanted]
        return [[], flawed, wanted, wanted] if flawed != wanted else [[], wanted, wanted]

    def flaw(self, token: int) -> int:
        piece = self.vocabulary.of([token])[0]
        bare = piece.removeprefix("▁")
        return self.encode(FLAWS[bare])[0] if bare in FLAWS else token

    def iteration(self, before: list[int], after: list[int]) -> dict[str, Any]:
        script: EditScript = between(before, after)
        sure = [0.42 if token in self.encode("läuft springt") else 0.93 for token in script.fill]
        return {
            "script": {"drop": list(script.drop), "counts": list(script.counts), "fill": list(script.fill)},
            "pieces": self.vocabulary.of(list(script.fill)),
            "drop_probs": [0.97] * len(script.drop),
            "counts_probs": [0.9] * len(script.counts),
            "fill_probs": sure,
        }

    def result(
        self, states: list[list[int]], locks: dict[int, bool], *, trace: bool = True
    ) -> dict[str, Any]:
        tokens = states[-1]
        iterations = [self.iteration(a, b) for a, b in pairwise(states)]
        shown = {"text": self.vocabulary.text(tokens), "tokens": tokens, "pieces": self.vocabulary.of(tokens)}
        ended = "unchanged" if states[-1] == states[-2] else "limit"
        return {
            **shown,
            "score": -0.1,
            "iterations": len(iterations),
            "passes": 3 * len(iterations),
            "stopped": ended,
            "locked": [locks.get(token, False) for token in tokens],
            "glued": [False] * len(tokens),
            "trace": {
                "version": 1,
                "draft": {"tokens": states[0], "pieces": self.vocabulary.of(states[0])},
                "iterations": iterations,
                "stopped": ended,
                "result": shown,
            }
            if trace
            else None,
        }
