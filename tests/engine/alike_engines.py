"""What every engine that runs its own passes must do as torch does it."""

import random
from typing import Any

from levt.engine.alternatives import Place
from levt.engine.continuous import continuous
from levt.engine.engine import Engine
from levt.engine.torch_engine import TorchEngine
from levt.refine.request import Request
from tiny_models import TOKENIZERS

SIZE = TOKENIZERS.target.size


def requests_come_and_go(engine: Engine) -> None:
    """Joining others that are under way, each request gets what it would get alone."""
    rng = random.Random(1)
    requests = [Request(source=tuple(rng.randrange(5, SIZE) for _ in range(n))) for n in (3, 9, 1, 14, 6)]
    alone = [engine.refine(engine.encode([r.source]), [r])[0] for r in requests]
    batch = continuous(engine)
    outcomes = batch.add(requests[:2])
    for request in requests[2:]:
        batch.step()
        outcomes += batch.add([request])
    while batch.alive:
        batch.step()
    assert [o.tokens for o in outcomes] == [o.tokens for o in alone]


def alternatives_agree(engine: Any, net: Any) -> None:
    """For an open place and for a token that stands there, those of the network itself."""
    places = [
        Place(source=(9, 8), before=(7,), after=(6,), placeholders=2, count=3),
        Place(source=(9,), current=12),
    ]
    expected = TorchEngine(net, TOKENIZERS).alternatives(places)
    for one, other in zip(expected, engine.alternatives(places), strict=True):
        assert [tokens for tokens, _ in one.alternatives] == [tokens for tokens, _ in other.alternatives]
