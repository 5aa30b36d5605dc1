"""Early exit of a loaded model."""

import pytest
import torch
from test_captured import network, tokenizers

from levt.engine.exits import leave_early
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError
from levt.policy.layout import Padded


def test_policies_leave_where_they_are_told() -> None:
    model, early = network(1), network(1, delete_exit=1, placeholder_exit=1)
    texts = [" ".join(f"p{(i * j) % 30}" for j in range(1, 3 + i % 9)) for i in range(8)]
    y = torch.tensor([[1, 7, 8, 2]])
    before = model.hidden(model.encode(y), y, Padded.of(y), "delete")
    engine = Model(TorchEngine(model, tokenizers())).leave_early(delete=1, placeholder=1)
    assert not torch.allclose(before, model.hidden(model.encode(y), y, Padded.of(y), "delete"))
    # As a model whose folder says so.
    expected = Model(TorchEngine(early, tokenizers())).translate(texts)
    for one, other in zip(engine.translate(texts), expected, strict=True):
        assert one.tokens == other.tokens


def test_exits_must_be_there() -> None:
    with pytest.raises(ConfigError, match="2 problems"):
        leave_early(network(1), {"delete": 3, "insert": 1})
    with pytest.raises(ConfigError, match="only LevT"):
        leave_early(torch.nn.Identity(), {"delete": 1})
