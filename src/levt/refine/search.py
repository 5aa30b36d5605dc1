"""Beam search for the models that write from left to right. Knows no text and no draft.

A hypothesis y with n tokens, ``</s>`` counted, scores log P(y) / n^α; α = 0 is the plain probability, α = 1 the
mean per token. At each step the 2k best extensions of a source's k hypotheses are looked at: those that end
among the first k are finished, the best k others go on. A source is done when k hypotheses are finished, or at
its longest output, where only the end is allowed. k = 1 is greedy. Each source is searched by itself, so the
result does not depend on batch mates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from levt.errors import ConfigError
from levt.policy.memory import Memory
from levt.policy.scores import forbid, log_softmax_tokens
from levt.policy.stepwise import Stepwise
from levt.refine.ranges import MANY, RATIO, Range, check_numbers
from levt.refine.request import Tokens
from levt.text.specials import BOS, EOS, UNK

T = TypeVar("T")

RANGES = {
    "beam": Range(1, 1024),
    "n_best": Range(1, 1024),
    "length_penalty": Range(0, 10),
    "max_ratio": RATIO,
    "min_room": Range(2, MANY),
}


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Settings of one search.

    >>> SearchOptions(beam=2, n_best=3)
    Traceback (most recent call last):
    levt.errors.ConfigError: search: n_best must be between 1 and beam (2), got 3
    hint: a larger beam, or fewer outputs
    """

    beam: int = 4
    """Hypotheses kept per source; 1 is greedy."""
    n_best: int = 1
    """How many of them are returned."""
    length_penalty: float = 1.0
    """α: the log-probability is divided by length^α; larger is longer."""
    max_ratio: float = 2.0
    """No output is longer than this many times the source (boundaries counted)."""
    min_room: int = 10
    """… but always as long as this, boundaries counted."""
    by_sentence: bool = False
    """Translate each sentence of a text by itself, where one output is asked for."""

    def __post_init__(self) -> None:
        check_numbers("search", self, RANGES)
        if self.n_best > self.beam:
            raise ConfigError(
                f"search: n_best must be between 1 and beam ({self.beam}), got {self.n_best}",
                hint="a larger beam, or fewer outputs",
            )

    def limit(self, source: int, positions: int) -> int:
        """Longest output, boundaries counted, of a source of that length."""
        return min(max(int(self.max_ratio * source), self.min_room), positions)

    def score(self, logp: float, tokens: int) -> float:
        """The log P(y) / n^α of a finished hypothesis without its boundaries."""
        return logp / float((tokens + 1) ** self.length_penalty)


@dataclass(frozen=True)
class Hypothesis:
    """One output of a search."""

    tokens: Tokens
    """Without boundaries."""
    logp: float
    """Its log-probability, the end included."""
    score: float
    """The same, normalised by its length."""
    ended: bool = True
    """False where the length limit ended it and not the model."""


@dataclass
class Course:
    """The search of one source."""

    limit: int
    alive: list[tuple[float, Tokens]] = field(default_factory=lambda: [(0.0, ())])
    finished: list[Hypothesis] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    done: bool = False

    def extend(self, candidates: Sequence[tuple[float, int, int]], options: SearchOptions) -> None:
        """Take the best extensions (log-probability, hypothesis, token), best first."""
        alive: list[tuple[float, Tokens]] = []
        parents: list[int] = []
        last = len(self.alive[0][1]) >= self.limit - 2
        for rank, (logp, parent, token) in enumerate(candidates):
            if logp == float("-inf"):
                break
            tokens = self.alive[parent][1]
            if token == EOS:
                if rank < options.beam:
                    score = options.score(logp, len(tokens))
                    self.finished.append(Hypothesis(tokens, logp, score, ended=not last))
            elif len(alive) < options.beam:
                alive.append((logp, (*tokens, token)))
                parents.append(parent)
        self.alive, self.parents = alive, parents
        self.done = last or len(self.finished) >= options.beam or not alive

    def best(self, options: SearchOptions) -> list[Hypothesis]:
        """The finished hypotheses, best first; a network that only says NaN gives the empty one."""
        ranked = sorted(self.finished, key=lambda hypothesis: -hypothesis.score)
        return ranked[: options.n_best] or [Hypothesis((), float("-inf"), float("-inf"), ended=False)]


@torch.inference_mode()
def beam_search(
    model: Stepwise, memory: Memory, limits: Sequence[int], options: SearchOptions
) -> list[list[Hypothesis]]:
    """The best outputs of every source of a memory; ``limits`` says how long each may be, boundaries counted."""
    k, device = options.beam, memory.states.device
    rows = [Course(limit) for limit in limits]
    alive = list(rows)
    cache = model.start(memory, max(limits) - 1, k)
    tokens = torch.full((len(rows) * k,), BOS, device=device)
    while True:
        logp = next_token(model.step(memory, tokens, cache)).view(len(alive), k, -1)
        found = extensions(logp, alive, k)
        for row, candidates in zip(alive, found, strict=True):
            row.extend(candidates, options)
        stay = [i for i, row in enumerate(alive) if not row.done]
        if not stay:
            return [row.best(options) for row in rows]
        # Rows with fewer than k hypotheses repeat the first: it is ignored, but keeps the shape.
        parents = [i * k + p for i in stay for p in _filled(alive[i].parents, k)]
        last = [hypothesis[1][-1] for i in stay for hypothesis in _filled(alive[i].alive, k)]
        if parents != list(range(len(alive) * k)):
            cache = model.reorder(cache, torch.tensor(parents, device=device))
        if len(stay) < len(alive):
            memory = memory.select(torch.tensor(stay, device=device))
            alive = [alive[i] for i in stay]
        tokens = torch.tensor(last, device=device)


def next_token(logits: Float[Tensor, "r v"]) -> Float[Tensor, "r v"]:
    """Log-probabilities of the next token; −∞ for symbols that are never written, and for NaN."""
    logp = forbid(log_softmax_tokens(logits), end=True)
    logp[:, UNK] = float("-inf")
    return logp.nan_to_num(nan=float("-inf"), posinf=float("-inf"), neginf=float("-inf"))


def extensions(
    logp: Float[Tensor, "b k v"], rows: Sequence[Course], beam: int
) -> list[list[tuple[float, int, int]]]:
    """The 2k best extensions of the hypotheses of each row, best first."""
    v = logp.shape[2]
    nothing = [float("-inf")] * beam
    # One tensor of all rows: with hundreds of them, one each would cost more than the network.
    so_far = torch.tensor([([logp for logp, _ in row.alive] + nothing)[:beam] for row in rows])
    last = torch.tensor([len(row.alive[0][1]) >= row.limit - 2 for row in rows])
    total = so_far.to(logp.device).unsqueeze(2) + logp
    only_end = torch.arange(v, device=logp.device).ne(EOS) & last.to(logp.device).unsqueeze(1)
    total = total.masked_fill(only_end.unsqueeze(1), float("-inf"))
    best: Float[Tensor, "b c"]
    at: Int[Tensor, "b c"]
    best, at = total.flatten(1).topk(min(2 * beam, beam * v))
    return [
        [(value, place // v, place % v) for value, place in zip(values, places, strict=True)]
        for values, places in zip(best.tolist(), at.tolist(), strict=True)
    ]


def _filled(items: list[T], k: int) -> list[T]:
    return items + items[:1] * (k - len(items))
