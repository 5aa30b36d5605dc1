"""``levt tune``: the best γ, on stdout."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from levt.cli import main
from levt.engine.model import Model
from levt.errors import ConfigError
from levt.evaluation.metrics import metric
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.tuning import tune


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a toy LevT and the toy's texts."""
    folder = tmp_path_factory.mktemp("tune")
    step = Made.of("en-de", Setting(scale="toy")).model(expert="oracle")
    places: dict[str, Path] = {}
    corpus = next(iter(step.before))
    for one in (*corpus.before, corpus, step):
        places[one.digest] = out = folder / one.label
        out.mkdir()
        inputs = {name: places[digest] for name, digest in one.read.items()}
        one.run(Job(label=one.label, inputs=inputs, config=one.config, out=out))
    return folder


def test_the_best_penalty_is_printed(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = made / "toy-translation"
    args = [
        "tune",
        str(made / "en-de.levt-oracle" / "model"),
        "--dev",
        f"{texts}/dev.src",
        f"{texts}/dev.tgt",
    ]
    main([*args, "--penalties", "0", "3", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert set(found["scores"]) == {"0", "3"}
    assert set(found["p_values"]) == {"0", "3"}
    assert found["p_values"][max(found["scores"], key=found["scores"].get)] == 1
    assert found["p_values"][f"{found['penalty']:g}"] > 0.05
    assert found["signature"].startswith("nrefs:1")
    with pytest.raises(SystemExit):
        main([*args, "--penalties", "4"])
    assert "penalties must be between 0 and 3, got 4.0" in capsys.readouterr().err


@dataclass
class Text:
    """As much of a result as is looked at."""

    text: str


class Longer(Model):
    """A model whose texts grow with γ."""

    def __init__(self, kind: str = "levt") -> None:
        self.own_kind = kind

    @property
    def kind(self) -> str:
        return self.own_kind

    def translate(self, text: Any, **settings: Any) -> Any:
        length = int(2 + 2 * settings["empty_gap_penalty"])
        return [Text(" ".join("abcdefgh"[:length])) for _ in text]


def test_the_penalty_with_the_best_score_wins_and_the_smallest_of_equals() -> None:
    six, four = ["a b c d e f"] * 20, ["a b c d"] * 20
    assert tune(Longer(), ["x"] * 20, six, metric("chrf"), grid=(0.0, 1.0, 2.0, 2.4)).penalty == 2.0
    assert tune(Longer(), ["x"] * 20, four, metric("ter"), grid=(2.0, 1.4, 1.0)).penalty == 1.0


def test_a_larger_penalty_must_be_better_by_more_than_chance() -> None:
    """One sentence in a few that is too short with γ = 0 is no reason to make all of them longer."""
    hardly = ["a b"] * 10 + ["a b c d"] * 11
    found = tune(Longer(), ["x"] * 21, hardly, metric("chrf"), grid=(0.0, 1.0))
    assert found.scores["1"] > found.scores["0"]
    assert found.p_values["0"] > 0.05
    assert found.penalty == 0
    clearly = ["a b"] * 2 + ["a b c d"] * 19
    assert tune(Longer(), ["x"] * 21, clearly, metric("chrf"), grid=(0.0, 1.0)).penalty == 1


def test_only_levt_has_such_a_penalty() -> None:
    with pytest.raises(ConfigError, match="no penalty"):
        tune(Longer("autoregressive"), ["x"], ["y"], metric("bleu"), grid=(0.0, 1.0))


@pytest.mark.parametrize(
    "command", [["tune", "none", "--dev", "-", "-"], ["bench", "none", "--input", "-", "--reference", "-"]]
)
def test_stdin_is_one_file(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(command)
    assert caught.value.code == 2
    assert "only one file can be -, which is stdin" in capsys.readouterr().err
