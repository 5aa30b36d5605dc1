"""Every generation table and figure, end to end, at toy scale: one workplace, so that what they share is made once."""

import json
import shutil
from pathlib import Path

import pytest
from counted_steps import Quiet

from levt.errors import ConfigError, InputError
from levt.policy.config import LevTConfig, TransformerConfig
from levt.policy.inherit import differences
from levt.recipes.reproduce import names, reproduction
from levt.recipes.reproduce.framework.publish import publish
from levt.recipes.reproduce.framework.runner import StepFailed, run_chain
from levt.recipes.reproduce.framework.setting import Scale, Setting
from levt.recipes.reproduce.framework.step import chain, check_files, missing_files
from levt.recipes.reproduce.framework.workplace import Workplace
from levt.recipes.reproduce.iterations_by_length import by_length, sentences
from levt.recipes.reproduce.parts import training
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.post_editing_pairs import _apart
from levt.recipes.reproduce.parts.prepare import prepare_step
from levt.recipes.reproduce.parts.task import TASKS
from levt.recipes.reproduce.parts.training import network

GENERATION = (
    "table-1", "sharing", "roll-in", "iterations-by-length", "iterations", "early-exit", "timeout", "paper-settings",
)  # fmt: skip
TOY = Setting(scale="toy")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.mark.parametrize("name", GENERATION)
def test_each_name_makes_its_page(name: str, work: Path, tmp_path: Path) -> None:
    made = reproduction(name)
    goal, place = made.goal(TOY), Workplace(work)
    assert run_chain(goal, place, Quiet()).complete
    page = publish(made, goal, place, TOY, tmp_path).read_text("utf-8")
    whole = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
    assert page.startswith(f"# {made.title}\n")
    assert whole["tables"]
    for table in whole["tables"].values():
        assert table["rows"]
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
    pictures = [line.partition("](")[2].rstrip(")") for line in page.splitlines() if line.startswith("![")]
    assert bool(pictures) == (name not in ("sharing", "roll-in", "paper-settings"))
    for picture in pictures:
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    known = whole["provenance"]
    assert known["seeds"] == [1]
    assert len(known["steps"]) == len(chain(goal))
    assert known["signatures"] or name == "iterations-by-length"
    assert all(one["seconds"] >= 0 and one["digest"] for one in known["steps"])
    trained = [one for one in known["steps"] if one["function"].endswith(":train")]
    assert trained
    assert all(one["settings"]["training"]["seed"] == 1 for one in trained)
    assert str(work) not in json.dumps(known)
    assert known["where"][0]["versions"]["torch"]
    # A second run finds everything done.
    assert place.pending(made.goal(TOY)) == []


@pytest.mark.parametrize("gone", ["", "best", "."])
def test_a_training_that_is_killed_while_it_tidies_up_is_not_lost(
    gone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal, place = Made.of("en-de", TOY).teacher, Workplace(tmp_path)
    remove = shutil.rmtree

    def killed(folder: Path, **how: bool) -> None:
        if folder.name == training.RUN:
            if gone:
                remove(folder / gone)
            raise KeyboardInterrupt
        remove(folder, **how)

    with monkeypatch.context() as patch:
        patch.setattr(training.shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            run_chain(goal, place, Quiet())
    monkeypatch.setattr(training, "run", lambda experiment: pytest.fail("it was trained again"))
    assert run_chain(goal, place, Quiet()).complete
    assert not (place.place(goal) / training.RUN).exists()


def test_what_two_names_share_is_one_step() -> None:
    digests = {
        name: {step.digest: step.label for step in chain(reproduction(name).goal(TOY))} for name in GENERATION
    }

    def shared(one: str, other: str) -> set[str]:
        return {digests[one][digest] for digest in digests[one].keys() & digests[other].keys()}

    assert {"en-de.ar", "en-de.distilled", "en-de.levt-distilled"} <= shared("table-1", "sharing")
    assert "en-de.levt-distilled.decoded" in shared("table-1", "iterations")
    assert "ro-en.levt-distilled" in shared("early-exit", "timeout")


def test_more_seeds_are_more_students_of_one_teacher() -> None:
    one, three = (
        {step.label for step in chain(reproduction("sharing").goal(Setting(scale="toy", seeds=seeds)))}
        for seeds in (1, 3)
    )
    more = three - one
    assert {"en-de.levt-distilled.seed2", "en-de.levt-distilled.seed3", "en-de.maskt-distilled.seed3"} <= more
    assert not any(label.startswith("en-de.ar") for label in more)


def test_close_calls_are_trained_more_often() -> None:
    close = Setting(scale="toy", close_calls=3)
    labels = {name: {step.label for step in chain(reproduction(name).goal(close))} for name in GENERATION}
    assert {"en-de.levt-plh-tok-distilled.seed3", "en-de.maskt-distilled.seed3"} <= labels["sharing"]
    once = {"en-de.levt-none-oracle.seed2", "en-de.it-distilled.seed2", "en-de.levt-tok-del-oracle.seed2"}
    assert not once & labels["sharing"]
    assert {"ro-en.levt-dae-oracle.seed3", "ro-en.levt-oracle.seed3"} <= labels["roll-in"]
    assert "en-de.ar.seed3" in labels["table-1"]
    assert {"en-de.levt-warm-distilled.seed3", "summarisation.levt-warm-distilled"} <= labels["table-1"]
    assert not any("summarisation" in label and "seed" in label for label in labels["table-1"])


def test_only_final_scores_of_japanese_need_words(tmp_path: Path) -> None:
    goal = reproduction("table-1").goal(Setting(scale="quick", data=tmp_path, tasks=("en-ja",)))
    for path in missing_files(goal):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one\n", encoding="utf-8")
    ways = {(step.function.rpartition(":")[2], step.config.get("tokenize")) for step in chain(goal)}
    assert {("train", "char"), ("tune_model", "char"), ("score", "ja-mecab")} <= ways
    assert [name for name, way in ways if way == "ja-mecab"] == ["score"]


@pytest.mark.parametrize("scale", ["quick", "paper"])
@pytest.mark.parametrize("name", GENERATION)
def test_missing_data_are_named_before_any_work(name: str, scale: Scale, tmp_path: Path) -> None:
    goal = reproduction(name).goal(Setting(scale=scale, data=tmp_path))
    missing = missing_files(goal)
    assert missing
    with pytest.raises(InputError, match="missing"):
        check_files(goal)
    for path in missing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one\n", encoding="utf-8")
    check_files(goal)
    assert len({step.digest for step in chain(goal)}) == len(chain(goal))
    assert sum(step.seconds for step in chain(goal)) > (100 if scale == "quick" else 36_000)


@pytest.mark.parametrize("wrong", [0, 1])
def test_files_of_which_the_beginning_is_read_are_as_long_as_each_other(wrong: int, tmp_path: Path) -> None:
    """A line too many makes all lines below it translations of others, also where both files go beyond the limit."""
    pairs = {split: (f"{split}.src", f"{split}.tgt") for split in ("train", "dev", "test")}
    for split, pair in pairs.items():
        for side, name in enumerate(pair):
            count = 9 + (split == "train" and side == wrong)
            (tmp_path / name).write_text("".join(f"{split} {i}\n" for i in range(count)), encoding="utf-8")
    splits = {split: [pair] for split, pair in pairs.items()}
    goal = prepare_step("toy", splits, tmp_path, vocabulary=300, limit=5)
    with pytest.raises(StepFailed, match="has fewer lines than"):
        run_chain(goal, Workplace(tmp_path / "work"), Quiet())
    source, target = (tmp_path / name for name in pairs["train"])
    with pytest.raises(InputError, match="has fewer lines than"):
        _apart(source, target, 5)


def test_the_paper_scale_has_the_papers_settings(tmp_path: Path) -> None:
    goal = reproduction("roll-in").goal(Setting(scale="paper", data=tmp_path))
    for path in missing_files(goal):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one\n", encoding="utf-8")
    step = next(step for step in chain(goal) if step.label == "ro-en.levt-oracle")
    model, training = step.config["model"], step.config["training"]
    assert (model["width"], model["hidden"], model["heads"], model["dropout"]) == (512, 2048, 8, 0.3)
    assert training["tokens"] * training["accumulate"] == 65_536
    assert (training["max_steps"], training["warmup"], training["ema"]) == (300_000, 10_000, 0.0)


def test_names_are_files() -> None:
    assert set(GENERATION) <= set(names())
    with pytest.raises(ConfigError, match="no reproduction 'table-9'"):
        reproduction("table-9")


def test_monolingual_sentences_are_from_all_over_a_file(tmp_path: Path) -> None:
    file = tmp_path / "en.txt"
    file.write_text("".join(f"line {i}\n\n" for i in range(9)), encoding="utf-8")
    assert sentences(file, 6) == [f"line {i}" for i in (0, 1, 3, 4, 6, 7)]
    assert len(sentences(file, 20)) == 9
    file.write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match="line 1: not UTF-8"):
        sentences(file, 6)
    file.write_text("\n \n")
    with pytest.raises(InputError, match=r"en.txt has no text"):
        sentences(file, 6)


def test_bins_of_length() -> None:
    assert by_length([5, 6, 10, 11], [1, 2, 4, 8]) == {3: (1.0, 1), 8: (3.0, 2), 13: (8.0, 1)}


@pytest.mark.parametrize("scale", ["toy", "quick", "paper"])
def test_every_student_can_begin_as_its_teacher(scale: Scale) -> None:
    for name in TASKS[scale]:
        made = Made.of(name, Setting(scale=scale))
        teacher = network("autoregressive", made.teacher.config["model"])
        student = made.model(label="levt-warm", warm=True)
        assert student.inputs["init"] == made.teacher
        child = network("levt", student.config["model"])
        assert isinstance(teacher, TransformerConfig)
        assert isinstance(child, LevTConfig)
        assert differences(child, teacher) == []
