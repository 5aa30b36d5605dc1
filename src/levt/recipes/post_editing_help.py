"""Refining with an oracle at hand: what a model makes of a draft when a person decides a part. Knows no score."""

from collections.abc import Sequence
from typing import Any

import torch

from levt.engine.batching import batches
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError, InputError
from levt.refine.guidance import Guidance
from levt.refine.loop import Outcome, refine
from levt.refine.options import Options
from levt.refine.oracle_policy import Help, OracleMemory, OraclePolicy
from levt.refine.request import Request, Tokens

HELP: dict[str, Help | None] = {
    "none": None,
    "oracle deletion": "delete",
    "oracle deletion and placeholders": "delete+placeholder",
}
"""What the oracle decides, as a figure calls it."""


def helped(
    model: Model,
    sources: Sequence[str],
    drafts: Sequence[str],
    references: Sequence[str],
    *,
    help: Help | None,
    options: Options | None = None,
) -> list[str]:
    """The texts that a LevT writes when the oracle decides what is deleted, or also how much is inserted where."""
    engine, options = model.engine, options or Options()
    if model.kind != "levt" or not isinstance(engine, TorchEngine):
        raise ConfigError(
            "an oracle helps a LevT that runs on the engine torch", hint="levt.load(…, engine='torch')"
        )
    if not len(sources) == len(drafts) == len(references):
        raise InputError(
            f"there must be one draft and one reference per source, {len(sources)} here, "
            f"got {len(drafts)} and {len(references)}",
            hint="three lists, as long as each other",
        )
    read, written = engine.tokenizers.source, engine.tokenizers.target
    rows = [
        (tuple(read.encode(x)), tuple(written.encode(y)), tuple(written.encode(z)))
        for x, y, z in zip(sources, drafts, references, strict=True)
    ]
    sizes = [2 + max(map(len, row)) for row in rows]
    if max(sizes, default=0) > engine.config.max_length:
        raise InputError(
            f"a text has {max(sizes)} tokens, the model can read {engine.config.max_length}",
            hint="give it sentence by sentence",
        )
    found: dict[int, str] = {}
    for batch in batches(sizes, model.budget):
        requests = [Request(source=rows[i][0], draft=rows[i][1], options=options) for i in batch]
        outcomes = together(engine, requests, [rows[i][2] for i in batch], help)
        for i, outcome in zip(batch, outcomes, strict=True):
            found[i] = written.decode(outcome.tokens)
    return [found[i] for i in range(len(rows))]


def together(
    engine: TorchEngine, requests: Sequence[Request], references: Sequence[Tokens], help: Help | None
) -> list[Outcome]:
    """Refine a batch with the help of an oracle who knows the reference of each; None: alone."""
    sources = [request.source for request in requests]
    if help is None:
        return engine.refine(engine.encode(sources), requests)
    # Read plainly, whatever an engine made of this one does.
    memory = TorchEngine.encode(engine, sources)
    guidance = Guidance.of(
        requests,
        positions=engine.config.max_length,
        vocabulary=engine.config.target_vocabulary,
        device=engine.device,
    )
    network: Any = engine.network
    known = OracleMemory.of(memory, list(references), device=engine.device)
    with torch.inference_mode():
        return refine(OraclePolicy(network, help), known, requests, guidance)
