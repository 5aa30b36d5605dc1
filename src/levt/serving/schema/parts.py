"""What requests are made of: places of a draft, a state in tokens, settings. Knows no server and no model.

Limits are the server's, not the schema's: each has an error of its own.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

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
    by_sentence: bool = Field(
        default=False,
        description="Translate each sentence by itself; where something must appear or stay, the text stays whole.",
    )


class State(Body):
    """A state y in tokens, without boundaries, with what the person has decided about it.

    ``locked``, ``glued`` and ``drop`` have one value per token, ``counts`` and ``words`` one per gap (n + 1);
    all may be left out.
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
    words: list[Annotated[int, Field(ge=0, le=1024)] | None] = Field(
        default=[],
        description="Whole words to write in each gap in the first iteration; they stay. Null: see ``counts``.",
    )
    banned: list[Annotated[list[Token], Field(min_length=1)]] = Field(
        default=[], description="Sequences of tokens that must not stand in the result."
    )
