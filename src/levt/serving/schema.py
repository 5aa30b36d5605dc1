"""What goes over the wire: every request and every response, as OpenAPI shows them. Knows no server and no model.

Needs the extra ``serve``. Limits are the server's, not the schema's: each has an error of its own.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Token = Annotated[int, Field(ge=0, description="Id of a token in the target vocabulary.")]

Pair = Annotated[list[int], Field(min_length=2, max_length=2)]
"""From the first character to the one after the last."""


class Body(BaseModel):
    """A request: unknown fields, numbers as strings and not-a-numbers are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Span(Body):
    """Characters of the draft (Unicode code points): from ``start`` to the one before ``end``."""

    start: int = Field(ge=0)
    end: int = Field(ge=1)


class Opening(Body):
    """A place of the draft where placeholders are to be opened at first."""

    at: int = Field(ge=0, description="Characters before the place.")
    count: int = Field(ge=0, le=1024, description="How many placeholders.")


class StepOptions(Body):
    """Settings of one iteration."""

    empty_gap_penalty: float = Field(
        default=0.0, ge=-10, le=10, description="γ of the paper: larger makes longer texts."
    )
    min_edit: float = Field(
        default=0.0, ge=0, le=1, description="The leave-alone dial: 0 rewrites freely, 1 edits nothing."
    )
    max_ratio: float = Field(
        default=2.0, gt=0, le=100, description="No state grows longer than this many times the source."
    )
    min_room: int = Field(
        default=10, ge=2, le=65535, description="… but always to this many tokens, boundaries counted."
    )
    max_count: int = Field(
        default=255, ge=1, le=65535, description="Most placeholders opened in one gap in one iteration."
    )


class Options(StepOptions):
    """Settings of a refinement."""

    max_iterations: int = Field(default=10, ge=1, description="Stop after this many iterations.")


class State(Body):
    """A state y in tokens, without boundaries, with what the person has decided about it.

    ``locked``, ``glued`` and ``drop`` have one value per token, ``counts`` one per gap (n + 1); all may be
    left out.
    """

    tokens: list[Token] = Field(description="Ids of the tokens; none for the empty canvas.")
    locked: list[bool] = Field(default=[], description="True where a token must survive.")
    glued: list[bool] = Field(
        default=[], description="True where nothing may come between a token and its left neighbour."
    )
    drop: list[bool] = Field(
        default=[], description="True where a token is crossed out: it goes in the first iteration."
    )
    counts: list[Annotated[int, Field(ge=0, le=1024)] | None] = Field(
        default=[],
        description="Placeholders to open in each gap in the first iteration; null leaves it to the model.",
    )
    banned: list[Annotated[list[Token], Field(min_length=1)]] = Field(
        default=[], description="Sequences of tokens that must not stand in the result."
    )


class Request(Body):
    """What every request that is answered by the model may have."""

    model: str | None = Field(
        default=None, description="Name of the model, as /v1/models gives it; may be left out."
    )
    timeout: float | None = Field(
        default=None, gt=0, description="Seconds to wait for the answer; the server's own limit holds too."
    )


class Batch(Request):
    """One text or many, with what must and must not appear."""

    text: str | None = Field(default=None, description="The source x. Either this or ``texts``.")
    texts: list[str] | None = Field(
        default=None, description="Many sources; then steering has one list per text."
    )
    drop: list[str | Span] | list[list[str | Span]] = Field(
        default=[],
        description="Texts that must not stand in the result, as whole words; a span crosses out one place.",
    )
    terms: list[str] | list[list[str]] = Field(
        default=[], description="Texts that must appear in the result, wherever they fit."
    )
    ordered: bool = Field(default=False, description="The terms must appear in the order given.")
    options: Options = Field(default_factory=Options)
    trace: bool = Field(default=False, description="Send every edit with its probability, spans and locks.")
    stream: bool = Field(
        default=False,
        description="Send iterations as server-sent events; so does `Accept: text/event-stream`.",
    )

    @model_validator(mode="after")
    def _one_or_many(self) -> "Batch":
        if (self.text is None) == (self.texts is None):
            raise ValueError("give either text or texts")
        return self


class TranslateRequest(Batch):
    """Write the target of a source, or of many."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "A dog runs over the snow."},
                {"texts": ["A dog runs.", "Two cats sleep."], "terms": [["Hund"], []]},
            ]
        }
    )


class RefineRequest(Batch):
    """Improve a draft of the target, or many; or the tokens of one, with locks and crossings-out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "A dog runs over the snow.",
                    "draft": "Ein Hund läuft über Gras.",
                    "keep": ["Ein Hund"],
                    "trace": True,
                },
                {"text": "A dog runs.", "state": {"tokens": [], "counts": [2]}},
            ]
        }
    )

    draft: str | None = Field(default=None, description="The draft y⁰ of ``text``.")
    drafts: list[str] | None = Field(default=None, description="One draft per text of ``texts``.")
    state: State | None = Field(
        default=None,
        description="The draft in tokens, for an editor; then ``keep``, ``drop``, ``insert_at`` are not used.",
    )
    keep: list[str | Span] | list[list[str | Span]] = Field(
        default=[], description="Parts of the draft that must survive unchanged and in one piece."
    )
    insert_at: list[Opening] | list[list[Opening]] = Field(
        default=[], description="Places of the draft where placeholders are to be opened at first."
    )

    @model_validator(mode="after")
    def _one_draft(self) -> "RefineRequest":
        if self.text is not None and (
            self.drafts is not None or (self.draft is None) == (self.state is None)
        ):
            raise ValueError("with text, give either draft or state")
        if self.texts is not None and (
            self.drafts is None or self.draft is not None or self.state is not None
        ):
            raise ValueError("with texts, give drafts")
        if self.state is not None and (self.keep or self.drop or self.insert_at):
            raise ValueError("a state has its own locked, drop and counts: give no keep, drop or insert_at")
        return self


class StepRequest(Request):
    """Exactly one delete–insert–fill round from a given state."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "A dog runs over the snow.", "state": {"tokens": []}},
                {
                    "text": "A dog runs.",
                    "state": {"tokens": [300, 301], "locked": [True, False], "counts": [None, 2, None]},
                },
            ]
        }
    )

    text: str = Field(description="The source x.")
    state: State
    terms: list[str] = Field(
        default=[], description="Texts that must appear; missing ones are put into the state first."
    )
    ordered: bool = Field(default=False, description="The terms must appear in the order given.")
    options: StepOptions = Field(default_factory=StepOptions)


class AlternativesRequest(Request):
    """What else could stand in a place: those tokens become placeholders, and the token policy is asked."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "A dog runs.", "tokens": [300, 301], "start": 1, "end": 2}]}
    )

    text: str = Field(description="The source x.")
    tokens: list[Token] = Field(description="The tokens of the state, without boundaries.")
    start: int = Field(ge=0, description="First token to replace.")
    end: int = Field(
        ge=0, description="The token after the last one to replace; equal to start: put in between."
    )
    placeholders: int = Field(default=1, ge=1, description="How many tokens to write there.")
    count: int = Field(default=8, ge=1, description="How many alternatives to give.")


class TokenizeRequest(Request):
    """Tokens of a text, or the text of tokens."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "Ein Hund läuft."}, {"tokens": [300, 301]}]}
    )

    text: str | None = Field(
        default=None, description="A text of the target side. Either this or ``tokens``."
    )
    tokens: list[Token] | None = Field(default=None, description="Tokens whose text is asked for.")
    inside: bool = Field(
        default=False, description="The text continues another: no space is put in front of it."
    )

    @model_validator(mode="after")
    def _one(self) -> "TokenizeRequest":
        if (self.text is None) == (self.tokens is None):
            raise ValueError("give either text or tokens")
        return self


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


class Limits(BaseModel):
    """What the server accepts; each limit has its own error."""

    bytes: int = Field(description="Largest body of a request.")
    texts: int = Field(description="Most texts in a request.")
    tokens: int = Field(description="Most tokens of a text or a draft.")
    iterations: int = Field(description="Largest max_iterations.")
    terms: int = Field(description="Most terms, and most parts to keep or drop, of a text.")
    alternatives: int = Field(description="Most alternatives, and most placeholders they fill.")
    queue: int = Field(description="Most texts that wait for a place.")
    seconds: float = Field(description="Longest time for an answer.")


class ModelInfo(BaseModel):
    """A model that answers."""

    name: str
    kind: str
    vocabulary: int = Field(description="Size of the target vocabulary.")
    max_length: int = Field(description="Most tokens of a source or a target, boundaries counted.")
    max_count: int = Field(description="Most placeholders that the model itself opens in one gap.")
    by_pieces: bool = Field(description="Whether texts must come segmented, pieces between spaces.")


class Models(BaseModel):
    """The models, the first being the default, and the limits of the server."""

    models: list[ModelInfo]
    limits: Limits


class Status(BaseModel):
    """Answer of /healthz and /readyz."""

    status: Literal["ok", "ready"]


class Problem(BaseModel):
    """What is wrong: a type for programs, a message and a hint for people."""

    type: str
    message: str
    hint: str | None = None


class ErrorBody(BaseModel):
    """Every error has this form."""

    error: Problem


class DraftEvent(Tokens):
    """``event: draft``, first for each text: where its refinement begins."""

    index: int = Field(description="Number of the text in the request, from 0.")


class IterationEvent(Tokens):
    """``event: iteration``: one round and the state after it."""

    index: int
    number: int = Field(description="Number of the iteration, from 1.")
    iteration: Iteration


class ResultEvent(BaseModel):
    """``event: result``: a text is done. Its trace is what counts: an end may still be cut from a cycle."""

    index: int
    result: Result


EVENTS: dict[str, type[BaseModel]] = {
    "draft": DraftEvent,
    "iteration": IterationEvent,
    "result": ResultEvent,
    "error": ErrorBody,
}
"""What a stream sends, by the name of the event; after the last one comes ``done`` with an empty object."""


def event_examples() -> dict[str, Any]:
    """What a stream looks like, for OpenAPI."""
    return {
        "text/event-stream": {
            "schema": {"type": "string", "description": "Events draft, iteration, result, error, done."},
            "example": 'event: iteration\ndata: {"index": 0, "number": 1, …}\n\nevent: done\ndata: {}\n\n',
        }
    }
