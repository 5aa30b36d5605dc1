"""What goes over the wire: every request and every response, as OpenAPI shows them. Knows no server and no model.

Needs the extra ``serve``.
"""

from levt.serving.schema.about import ErrorBody, Limits, ModelInfo, Models, Problem, Status
from levt.serving.schema.answers import (
    Alternative,
    AlternativesAnswer,
    Answer,
    DraftTokens,
    Iteration,
    Result,
    Script,
    StepAnswer,
    TokenizeResponse,
    Tokens,
    Trace,
)
from levt.serving.schema.events import EVENTS, DraftEvent, IterationEvent, ResultEvent, event_examples
from levt.serving.schema.parts import Body, Opening, Options, Pair, Span, State, StepOptions, Token
from levt.serving.schema.requests import (
    AlternativesRequest,
    Batch,
    RefineRequest,
    Request,
    StepRequest,
    TokenizeRequest,
    TranslateRequest,
)

__all__ = [
    "EVENTS",
    "Alternative",
    "AlternativesAnswer",
    "AlternativesRequest",
    "Answer",
    "Batch",
    "Body",
    "DraftEvent",
    "DraftTokens",
    "ErrorBody",
    "Iteration",
    "IterationEvent",
    "Limits",
    "ModelInfo",
    "Models",
    "Opening",
    "Options",
    "Pair",
    "Problem",
    "RefineRequest",
    "Request",
    "Result",
    "ResultEvent",
    "Script",
    "Span",
    "State",
    "Status",
    "StepAnswer",
    "StepOptions",
    "StepRequest",
    "Token",
    "TokenizeRequest",
    "TokenizeResponse",
    "Tokens",
    "Trace",
    "TranslateRequest",
    "event_examples",
]
