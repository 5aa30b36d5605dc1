"""What a stream sends: server-sent events, from the draft to the result."""

from typing import Any

from pydantic import BaseModel, Field

from levt.serving.schema.about import ErrorBody
from levt.serving.schema.answers import Iteration, Result, Tokens


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
            "schema": {
                "type": "object",
                "description": "An event; the data are JSON.",
                "required": ["event", "data"],
                "properties": {"event": {"enum": [*EVENTS, "done"]}, "data": {"type": "string"}},
            },
            "example": 'event: iteration\ndata: {"index": 0, "number": 1, …}\n\nevent: done\ndata: {}\n\n',
        }
    }
