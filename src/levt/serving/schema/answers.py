"""Every answer: texts, traces, alternatives, tokens."""

from typing import Literal

from pydantic import BaseModel, Field

from levt.serving.schema.parts import Pair


class Tokens(BaseModel):
    """Tokens and their text."""

    text: str = Field(description="The decoded text.")
    tokens: list[int]
    pieces: list[str] = Field(description="Each token as written in the vocabulary; ``▁`` begins a new word.")


class TokenizeResponse(Tokens):
    """A text in tokens."""

    model: str
    spans: list[Pair] = Field(
        description="For each token the characters of the text (code points) that it makes up."
    )


class Script(BaseModel):
    """The edits of one iteration."""

    drop: list[bool] = Field(description="One per token, true = delete.")
    counts: list[int] = Field(description="Placeholders opened, one per gap of the state after deletion.")
    fill: list[int] = Field(description="One token per placeholder, from left to right.")


class Iteration(BaseModel):
    """One delete–insert–fill round; a probability is that of the decision taken, and may be missing."""

    script: Script
    pieces: list[str] = Field(description="The piece of each filled token.")
    drop_probs: list[float] = Field(default=[], description="One per token: of keeping where it was kept.")
    counts_probs: list[float] = Field(default=[], description="One per gap.")
    fill_probs: list[float] = Field(default=[], description="One per filled token.")


class DraftTokens(BaseModel):
    """Where a trace begins."""

    tokens: list[int]
    pieces: list[str]


class Trace(BaseModel):
    """Every edit from the draft to the result; what `levt show` reads."""

    version: int
    draft: DraftTokens
    iterations: list[Iteration]
    stopped: Literal["unchanged", "repeated", "cycle", "limit"] | None
    result: Tokens


class Result(Tokens):
    """A text, and how it came about. The last four are null unless a trace was asked for."""

    score: float | None = Field(description="Mean log-probability of the model's own decisions.")
    iterations: int
    passes: int = Field(description="Passes through a decoder.")
    stopped: Literal["unchanged", "repeated", "cycle", "limit", "empty"]
    spans: list[Pair] | None = Field(
        default=None, description="For each token the characters of the text (code points) that it makes up."
    )
    locked: list[bool] | None = Field(default=None, description="Which tokens were locked in the draft.")
    glued: list[bool] | None = Field(
        default=None, description="Which tokens were glued to their left neighbour."
    )
    trace: Trace | None = None


class Answer(BaseModel):
    """Results in the order of the texts; one where a single text was given."""

    model: str
    results: list[Result]


class StepAnswer(BaseModel):
    """The state after one round, with its trace: ``result.trace.iterations[0]`` is the round."""

    model: str
    result: Result


class Alternative(Tokens):
    """One way to fill the place; ``text`` is that of the whole state with it."""

    probability: float = Field(description="Of its first token, times that of the others given the first.")


class AlternativesAnswer(BaseModel):
    """Alternatives, most probable first."""

    model: str
    current: float | None = Field(description="Probability of the token that stands there, where it is one.")
    alternatives: list[Alternative]
