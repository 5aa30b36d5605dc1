"""What is asked of a model for every line."""

import pytest

from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine
from levt.policy.folder import Tokenizers
from levt.recipes.answering import Answering, Answers, Row
from levt.text.tokenizer import Tokenizer
from tiny_models import network

PIECES = Tokenizer.from_pieces(["do@@", "gs", "a", "run"], continuation="@@")


@pytest.mark.parametrize(("keep", "kept"), [("og", False), ("gs", True), ("do@@ gs", True), ("runs", False)])
def test_what_is_kept_of_a_draft_in_pieces_are_whole_pieces(keep: str, kept: bool) -> None:
    net = network("levt", source_vocabulary=PIECES.size, target_vocabulary=PIECES.size)
    model = Model(TorchEngine(net, Tokenizers.joint(PIECES)))
    asked = Answering(verb="refine", model="", keep=(keep,))
    [result] = Answers(asked, model)([Row("a do@@ gs", "a do@@ gs run")])
    assert not kept or PIECES.normalise(keep) in result.text
