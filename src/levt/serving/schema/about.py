"""What the server says of itself: its models, its limits, its health, and what is wrong."""

from typing import Literal

from pydantic import BaseModel, Field


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
