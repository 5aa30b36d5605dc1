"""How probable texts are to a model that writes from left to right."""

from collections.abc import Sequence

from levt.engine.batching import Budget, batches
from levt.engine.engine import Engine
from levt.errors import InputError
from levt.refine.request import Tokens
from levt.text.readable import readable


def score_texts(
    engine: Engine, sources: Sequence[str], targets: Sequence[str], budget: Budget, *, strict: bool = True
) -> list[float]:
    """Mean log-probability of each target's tokens, ``</s>`` counted; sources that repeat are read once.

    A target longer than the model can read is an error, or, unless ``strict``, as improbable as can be.
    """
    if len(sources) != len(targets):
        raise InputError(
            f"there must be one target per source, {len(sources)} here, got {len(targets)}",
            hint="two lists of texts, as long as each other",
        )
    positions = engine.config.max_length
    pairs: list[tuple[Tokens, Tokens]] = []
    for source, target in zip(sources, targets, strict=True):
        read, written = engine.tokenizers.source, engine.tokenizers.target
        pair = tuple(read.encode(readable(source, read))), tuple(written.encode(target))
        longest = max(map(len, pair if strict else pair[:1])) + 2
        if longest > positions:
            raise InputError(
                f"a text has {longest} tokens with its boundaries, the model that scores can read {positions}",
                hint="score it sentence by sentence",
            )
        pairs.append(pair)
    short = [i for i, pair in enumerate(pairs) if len(pair[1]) + 2 <= positions]
    scores = dict.fromkeys(range(len(pairs)), float("-inf"))
    for chosen in batches([max(map(len, pairs[i])) + 2 for i in short], budget):
        batch = [short[i] for i in chosen]
        unique = list(dict.fromkeys(pairs[i][0] for i in batch))
        row = {source: r for r, source in enumerate(unique)}
        memory = engine.encode(unique)
        found = engine.score(memory, [pairs[i][1] for i in batch], [row[pairs[i][0]] for i in batch])
        scores.update(zip(batch, found, strict=True))
    return [scores[i] for i in range(len(pairs))]
