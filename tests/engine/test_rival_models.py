"""MaskT, IT and the Insertion Transformer through the Python API: texts in, results in order."""

from pathlib import Path
from typing import Any

import pytest
import torch

import levt
from levt.engine.batching import Budget
from levt.engine.model import Model
from levt.engine.torch_engine import TorchEngine
from levt.errors import ConfigError
from levt.refine.decoders import DECODERS, options_of
from tiny_models import LINES, TOKENIZERS, network, save_tiny, tiny

torch.set_num_threads(1)
KINDS = list(DECODERS)
TEXTS = [LINES[1], "A dog.", LINES[0], "", LINES[4], "Two cats sleep."]


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_in_order_and_alone_as_together(kind: str) -> None:
    together = tiny(kind).translate(TEXTS)
    for rows in (1, 2):
        apart = tiny(kind, rows=rows).translate(TEXTS)
        assert [r.tokens for r in apart] == [r.tokens for r in together]
        assert [r.iterations for r in apart] == [r.iterations for r in together]
    assert [r.tokens for r in tiny(kind, window=2).translate_stream(TEXTS)] == [r.tokens for r in together]
    assert [tiny(kind).translate(text).tokens for text in TEXTS] == [r.tokens for r in together]
    assert len({r.tokens for r in together}) > 1
    assert together[3].stopped == "empty"


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_tells_its_story(kind: str) -> None:
    for result in tiny(kind).translate([t for t in TEXTS if t]):
        assert 1 <= result.iterations <= 10
        assert result.passes >= result.iterations
        assert result.stopped in ("ended", "unchanged", "limit")
        assert result.score <= 0
        # After the last iteration lone bytes are removed, and by IT repetitions.
        more = len(result.trace.iterations) - result.iterations
        assert 0 <= more <= (2 if kind == "denoising" else 1)
        assert result.story.tokens == result.tokens
        assert result.to_json()["iterations"] == result.iterations
        assert result.text == TOKENIZERS.target.decode(result.tokens)


@pytest.mark.parametrize("kind", KINDS)
def test_iterations_are_limited(kind: str) -> None:
    for limit in (1, 3):
        for result in tiny(kind).translate([t for t in TEXTS if t], max_iterations=limit):
            assert result.iterations <= limit


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_stay_within_their_limit(kind: str) -> None:
    model = tiny(kind)
    for text in filter(None, TEXTS):
        size = len(TOKENIZERS.source.encode(text)) + 2
        limit = min(max(int(0.5 * size), 4), 64)
        assert len(model.translate(text, max_ratio=0.5, min_room=4).tokens) <= limit - 2


@pytest.mark.parametrize("kind", KINDS)
def test_long_texts_go_in_parts(kind: str) -> None:
    text = " ".join(LINES[:6])
    model = tiny(kind)
    assert len(TOKENIZERS.source.encode(text)) + 2 > 64
    result = model.translate(text)
    assert result.story.tokens == result.tokens
    assert result.stopped in ("ended", "unchanged", "limit")


@pytest.mark.parametrize("kind", KINDS)
def test_what_they_cannot_do_is_said(kind: str) -> None:
    model = tiny(kind)
    with pytest.raises(ConfigError, match=f"a model of kind {kind} cannot refine a draft"):
        model.refine("A dog.", draft="Ein Hund.")
    with pytest.raises(ConfigError, match="cannot be steered by terms"):
        model.translate("A dog.", terms=["Hund"])
    with pytest.raises(ConfigError, match="cannot score texts"):
        model.score(["A dog."], ["Ein Hund."])
    with pytest.raises(ConfigError, match=f"unknown setting 'beam' for a model of kind {kind}"):
        model.translate("A dog.", beam=3)
    with pytest.raises(ConfigError, match="max_iterations must be at least 1, got 0"):
        model.translate("A dog.", max_iterations=0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_gives_the_same_texts(kind: str, tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "m", kind)
    model = levt.load(folder, device="cpu")
    assert model.kind == kind
    assert [r.tokens for r in model.translate(TEXTS)] == [r.tokens for r in tiny(kind).translate(TEXTS)]


def test_settings_reach_the_decoders() -> None:
    masked, insertion = tiny("masked"), tiny("insertion")
    narrow, wide = (masked.translate(LINES[:5], length_beam=beam) for beam in (1, 8))
    assert all(b.score >= a.score - 1e-5 for a, b in zip(narrow, wide, strict=True))
    assert [r.tokens for r in narrow] != [r.tokens for r in wide]
    short, long = (insertion.translate(LINES[0], empty_gap_penalty=p) for p in (-10.0, 10.0))
    assert len(short.tokens) < len(long.tokens)


def test_an_engine_without_decoders_says_so() -> None:
    class Other:
        """An engine for other kinds."""

        def __init__(self) -> None:
            inner = TorchEngine(network("masked"), TOKENIZERS)
            self.config, self.tokenizers, self.encode = inner.config, inner.tokenizers, inner.encode

        def refine(self, *given: Any) -> Any: ...
        def search(self, *given: Any) -> Any: ...
        def score(self, *given: Any) -> Any: ...

    with pytest.raises(
        ConfigError, match="this engine cannot run a model of kind masked\nhint: --engine torch"
    ):
        Model(Other(), Budget()).translate("A dog.")


def test_every_decoder_has_a_network() -> None:
    for kind, decoder in DECODERS.items():
        assert options_of(kind) is decoder.options
        assert network(kind).config.kind == kind
