"""Every request, as OpenAPI shows it."""

from pydantic import ConfigDict, Field, model_validator

from levt.serving.schema.parts import Body, Opening, Options, Span, State, StepOptions, Token


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
        description="The draft in tokens, for an editor; then there must be no ``keep``, ``drop`` or ``insert_at``.",
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
