"""Every recipe is a whole configuration; the commands in their documentation are commands."""

import inspect
import re
import shlex
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import tyro

from levt.cli.prepare import prepare
from levt.errors import ConfigError
from levt.policy.config import LevTConfig, PostEditingConfig, RecurrentConfig, TransformerConfig
from levt.recipes import recipe, recipes, summaries
from levt.recipes.experiment import Experiment, as_json
from levt.recipes.paper import TRAINING

ALL = recipes()


@pytest.mark.parametrize("name", ALL)
def test_every_recipe_is_whole(name: str) -> None:
    found = recipe(name)
    assert isinstance(found, Experiment)
    assert found.corpus.parts[0] == "corpora"
    assert found.out == Path("runs") / name or name.startswith("multi30k")
    assert as_json(found)["kind"] == found.model.kind
    assert (ALL[name].__doc__ or "").strip()


def test_the_list_that_is_read_is_the_one_that_is_imported() -> None:
    assert summaries() == {name: (inspect.getdoc(make) or "").splitlines()[0] for name, make in ALL.items()}


def test_no_two_runs_share_a_folder() -> None:
    folders = [make().out for make in ALL.values()]
    assert len(set(folders)) == len(folders)


PAPER = [name for name in ALL if name.startswith(("wmt", "wat17", "gigaword"))]


@pytest.mark.parametrize("name", PAPER)
def test_the_paper_s_settings(name: str) -> None:
    found = recipe(name)
    training = found.training
    assert training == TRAINING
    assert (training.learning_rate, training.warmup, training.max_steps) == (5e-4, 10_000, 300_000)
    assert training.tokens * training.accumulate == 65_536
    assert (training.schedule, training.ema, training.average) == ("inverse-sqrt", 0.0, 0)
    assert found.objective.label_smoothing == 0.1
    assert found.model.joint_embeddings == ("en-ja" not in name)
    assert found.model.width == 512
    if not isinstance(found.model, RecurrentConfig):
        assert isinstance(found.model, TransformerConfig)
        sizes = (
            found.model.hidden,
            found.model.heads,
            found.model.encoder_layers,
            found.model.decoder_layers,
        )
        assert sizes == (2048, 8, 6, 6)
        assert found.model.dropout == 0.3
    edits = "ape" in name and "4m" not in name  # the four million teach to translate
    assert found.metric == ("rouge-2" if "gigaword" in name else "ter" if edits else "bleu")
    assert found.options.reread is (found.teaching is not None)


def test_the_paper_has_all_five_tasks() -> None:
    for task in ("wmt16-ro-en", "wmt14-en-de", "wat17-en-ja", "gigaword", "wmt17-ape"):
        kinds = {type(recipe(name).model) for name in PAPER if name.startswith(task)}
        assert LevTConfig in kinds
        assert len(kinds) > 1
    assert any(isinstance(recipe(name).model, PostEditingConfig) for name in PAPER)


def prepare_commands() -> list[tuple[str, str]]:
    found = []
    for name, make in ALL.items():
        for command in re.findall(r"levt prepare (.*?--out \S+)", inspect.getdoc(make) or "", re.DOTALL):
            found.append((name, " ".join(command.split())))
    return found


@pytest.mark.parametrize(("name", "command"), prepare_commands())
def test_the_commands_that_make_the_corpora_are_commands(name: str, command: str) -> None:
    """Every flag is known, files come by twos or threes, the folder is the recipe's, the sides are as it says."""
    given: dict[str, Any] = {}

    @wraps(prepare)
    def stand_in(**arguments: Any) -> None:
        given.update(arguments)

    tyro.cli(stand_in, args=shlex.split(command))
    experiment = recipe(name)
    assert given["out"] == experiment.corpus
    size = 3 if given["draft"] else 2
    assert given["train"]
    assert given["dev"]
    assert all(len(given[split]) % size == 0 for split in ("train", "dev", "test"))
    assert given["separate"] == (not experiment.model.joint_embeddings)
    assert given["draft"] == (experiment.metric == "ter")
    if name in PAPER:
        sizes = {"wmt16": 34_983, "wmt14": 37_009, "wat17": 17_952, "gigaw": 30_004, "wmt17": 40_349}
        assert given["vocabulary"] == sizes[name[:5]] or given["tokenizer"]
    else:
        assert given["max_length"] <= experiment.model.max_length


def test_who_has_no_command_says_where_to_find_it() -> None:
    with_command = {name for name, _ in prepare_commands()}
    for name, make in ALL.items():
        if name.startswith("bundled"):
            assert "bundled_corpus.sh" in (make.__doc__ or "")
        elif name not in with_command and not name.startswith(("multi30k", "typo")):
            named = re.search(r"(?:as for|corpus of) (\S+?)[.;]?$", (make.__doc__ or "").splitlines()[0])
            assert named, name
            assert named[1] in with_command


def test_a_file_is_a_recipe_too(tmp_path: Path) -> None:
    for future in ("", "from __future__ import annotations\n"):
        (tmp_path / "mine.py").write_text(
            f"{future}from dataclasses import dataclass, replace\n"
            "from levt.recipes.experiment import Experiment\n"
            "from levt.recipes.multi30k import multi30k_ar\n"
            "@dataclass\nclass Own:\n    x: int = 3\n"
            "def other() -> int:\n    return 3\n"
            "def my_recipe() -> Experiment:\n    return replace(multi30k_ar(), name='mine')\n",
            encoding="utf-8",
        )
        for name in ("mine.py:my_recipe", "mine.py:my-recipe", "mine.py"):
            assert recipe(str(tmp_path / name)).name == "mine"
        with pytest.raises(ConfigError, match=r"mine.py has no recipe 'other'"):
            recipe(str(tmp_path / "mine.py:other"))
    (tmp_path / "asks.py").write_text("def asks(what) -> 'Experiment': ...\n", encoding="utf-8")
    with pytest.raises(
        ConfigError, match="the recipe asks cannot be called: missing a required argument: 'what'"
    ):
        recipe(str(tmp_path / "asks.py"))
    with pytest.raises(ConfigError, match="does not exist"):
        recipe(str(tmp_path / "absent.py:x"))
    with pytest.raises(ConfigError, match=r"unknown recipe 'multi30k'\nhint: did you mean multi30k-\w+ or "):
        recipe("multi30k")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "return LevTConfig(source_vocabulary=5, target_vocabulary=5, widht=3)",
            r"wrong.py, line 4: TypeError: .* unexpected keyword argument 'widht'",
        ),
        ("return LevTConfig(**SMALL)", r"wrong.py, line 4: NameError: name 'SMALL' is not defined"),
        ("pass", r"wrong.py: the recipe mine must return an Experiment, got None"),
        (
            "return LevTConfig(source_vocabulary=5, target_vocabulary=5, heads=3)",
            r"wrong.py, line 4: levt model: width must be a multiple of heads \(3\), got 512\nhint: `levt train",
        ),
    ],
)
def test_what_is_wrong_inside_a_recipe_is_told_like_what_is_wrong_with_its_file(
    tmp_path: Path, body: str, said: str
) -> None:
    lines = ["from levt.policy.config import LevTConfig", "", "def mine() -> 'Experiment':", f"    {body}"]
    (tmp_path / "wrong.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=said) as caught:
        recipe(str(tmp_path / "wrong.py:mine"))
    assert caught.value.hint
