"""Chains of steps without a model: done once, whatever happens."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from counted_steps import Quiet, began, diamond, step

from levt.errors import ConfigError, InputError
from levt.recipes.reproduce.framework.packing import SMALL, needed, pack
from levt.recipes.reproduce.framework.runner import Outcome, StepFailed, run_chain
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Step, chain, check_files
from levt.recipes.reproduce.framework.workers import Worker, Workers
from levt.recipes.reproduce.framework.workplace import Workplace
from levt.recipes.reproduce.parts import packages
from levt.recipes.reproduce.parts.packages import check_packages
from levt.recipes.shards import held


@pytest.fixture(autouse=True)
def findable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that run in processes of their own find the functions of these tests."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def run(goal: Step, work: Path, *, parallel: int = 1, minutes: float | None = None) -> Outcome:
    return run_chain(goal, Workplace(work), Quiet(), parallel=parallel, minutes=minutes)


def text_of(goal: Step, work: Path) -> str:
    return (Workplace(work).place(goal) / "text").read_text("utf-8")


def test_each_step_is_done_once_and_a_change_does_what_is_behind_it(tmp_path: Path) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"
    assert run(diamond(diary), work).complete
    assert began(diary) == ["first", "left", "right", "goal"]
    assert text_of(diamond(diary), work) == "goal(left(first()),right(first()))"
    assert run(diamond(diary), work).complete
    assert len(began(diary)) == 4
    assert run(diamond(diary, left="other"), work).complete
    assert began(diary)[4:] == ["left", "goal"]


def test_files_count_by_content_and_not_by_place(tmp_path: Path) -> None:
    diary, work, file = tmp_path / "diary", tmp_path / "work", tmp_path / "file"
    file.write_text("one")
    run(diamond(diary, file=file), work)
    moved = tmp_path / "folder" / "file"
    moved.parent.mkdir()
    moved.write_text("one")
    assert diamond(diary, file=moved).digest == diamond(diary, file=file).digest
    moved.write_text("other")
    from levt.recipes.reproduce.framework.step import checksum

    checksum.cache_clear()
    assert diamond(diary, file=moved).digest != diamond(diary, file=file).digest


def test_all_files_that_are_missing_or_empty_are_named_at_once(tmp_path: Path) -> None:
    goal = step(
        tmp_path / "d",
        "goal",
        {"a": tmp_path / "one", "b": step(tmp_path / "d", "x", {"f": tmp_path / "two"})},
    )
    with pytest.raises(InputError, match=r"(?s)2 problems.*one is missing.*two is missing.*hint: look"):
        check_files(goal, hint="look")
    (tmp_path / "two").touch()
    with pytest.raises(InputError, match=r"(?s)2 problems.*one is missing.*two is empty.*hint: look"):
        check_files(goal, hint="look")


def test_a_label_is_no_part_of_a_step(tmp_path: Path) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"
    run(step(diary, "name", says="x"), work)
    renamed = step(diary, "other-name", says="x")
    assert run(renamed, work).complete
    assert began(diary) == ["name"]
    assert text_of(renamed, work) == "x()"


def test_a_workplace_can_be_moved_and_thinned_out(tmp_path: Path) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"
    run(diamond(diary), work)
    elsewhere = tmp_path / "elsewhere"
    shutil.move(work, elsewhere)
    place = Workplace(elsewhere)
    first = chain(diamond(diary))[0]
    (place.place(first) / "text").unlink()
    # Nobody needs it: the goal is done.
    assert run(diamond(diary), elsewhere).complete
    assert len(began(diary)) == 4
    # Now somebody does.
    assert run(diamond(diary, left="other"), elsewhere).complete
    assert began(diary)[4:] == ["first", "left", "goal"]


def test_what_is_beyond_the_budget_is_left_and_the_rest_is_done(tmp_path: Path) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"

    def goal() -> Step:
        long = step(diary, "long", seconds=100.0)
        return step(diary, "goal", {"a": long, "b": step(diary, "short")}, seconds=1.0)

    outcome = run(goal(), work, minutes=1.0)
    assert not outcome.complete
    assert [one.label for one in outcome.left] == ["long", "goal"]
    assert outcome.seconds == pytest.approx(101.0)
    assert began(diary) == ["short"]
    assert run(goal(), work, minutes=2.0).complete
    assert began(diary) == ["short", "long", "goal"]


@pytest.mark.parametrize("parallel", [1, 2])
def test_no_model_is_trained_that_could_not_be_decoded(tmp_path: Path, parallel: int) -> None:
    diary = tmp_path / "diary"
    model = step(diary, "model", seconds=50.0)
    goal = step(diary, "decoded", {"x": model}, seconds=20.0, light=True)
    assert [one.label for one in run(goal, tmp_path, parallel=parallel, minutes=1.0).left] == [
        "model",
        "decoded",
    ]
    assert began(diary) == []


def test_side_by_side_gives_the_same(tmp_path: Path) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"
    assert run(diamond(diary), work, parallel=2).complete
    assert sorted(began(diary)) == ["first", "goal", "left", "right"]
    assert text_of(diamond(diary), work) == "goal(left(first()),right(first()))"
    stamp = Workplace(work).stamp(diamond(diary))
    assert stamp is not None
    assert set(stamp["inputs"]) == {"a", "b"}


@pytest.mark.parametrize("parallel", [1, 2])
def test_where_somebody_is_told_the_others_go_on(tmp_path: Path, parallel: int) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"
    bad = step(diary, "bad", fails=True)
    goals = [step(diary, "behind", {"x": bad}), step(diary, "goal", {"x": step(diary, "good")})]
    told: list[str] = []
    outcome = run_chain(
        goals,
        Workplace(work),
        Quiet(),
        parallel=parallel,
        failed=lambda one, problem: told.append(str(problem)),
    )
    assert [one.label for one in outcome.left] == ["bad", "behind"]
    assert told == ["bad: this cannot be done\nhint: do something else"]
    assert sorted(began(diary)) == ["bad", "goal", "good"]


@pytest.mark.parametrize("parallel", [1, 2])
def test_the_others_go_on_whatever_a_step_dies_of(tmp_path: Path, parallel: int) -> None:
    diary, told = tmp_path / "diary", list[str]()
    outcome = run_chain(
        [step(diary, "bad", breaks=True), step(diary, "good")],
        Workplace(tmp_path / "work"),
        Quiet(),
        parallel=parallel,
        failed=lambda one, problem: told.append(str(problem)),
    )
    assert [one.label for one in outcome.left] == ["bad"]
    assert told == ["bad: RuntimeError: this was not thought of"]
    assert sorted(began(diary)) == ["bad", "good"]
    with pytest.raises(RuntimeError if parallel == 1 else StepFailed, match="this was not thought of"):
        run(step(diary, "bad", breaks=True), tmp_path / "work", parallel=parallel)


def test_who_stops_a_step_stops_them_all(tmp_path: Path) -> None:
    """A training that is interrupted is not one that has failed: nothing else is begun."""
    diary, told = tmp_path / "diary", list[str]()
    with pytest.raises(StepFailed, match="bad: this cannot be done"):
        run_chain(
            [step(diary, "bad", fails="stopped"), step(diary, "good")],
            Workplace(tmp_path / "work"),
            Quiet(),
            failed=lambda one, problem: told.append(str(problem)),
        )
    assert began(diary) == ["bad"]
    assert not told


def test_what_takes_too_long_is_stopped_for_what_runs_alone(tmp_path: Path) -> None:
    """A training that is slower than was thought does not cost the times of the models that are there."""
    diary, work = tmp_path / "diary", tmp_path / "work"
    timed = step(diary, "timed", {"x": step(diary, "model")}, seconds=94.0, alone=True)
    # It would never end: nothing runs beside what it waits for.
    slow = step(diary, "slow", seconds=1.0, awaits="timed", resumes=True)
    # After two seconds and a half of two minutes the rest is what is kept for the times.
    assert run_chain([timed, slow], Workplace(work), Quiet(), parallel=2, minutes=2.0).complete
    assert began(diary)[-2:] == ["timed", "slow"]


def test_all_are_asked_to_stop_before_any_is_waited_for(tmp_path: Path) -> None:
    said: list[str] = []

    class Heard(Worker):
        def __init__(self, name: str) -> None:
            self.name = name

        def stop(self) -> None:
            said.append(f"stop {self.name}")

        def end(self) -> None:
            said.append(f"end {self.name}")

    with Workers(Workplace(tmp_path), parallel=2) as workers:
        workers.busy = {step(tmp_path / "diary", name): Heard(name) for name in "ab"}
        workers.idle = [Heard("c")]
    assert said == ["stop a", "stop b", "end a", "end b", "end c"]


def test_what_is_packed_is_enough_to_go_on(tmp_path: Path) -> None:
    diary, work, file = tmp_path / "diary", tmp_path / "work", tmp_path / "packed.tar.gz"
    model, other = step(diary, "model", seconds=9.0), step(diary, "other")
    rest = [step(diary, "score", {"x": model}), step(diary, "goal", {"x": model, "y": other})]
    run_chain([rest[0], other], Workplace(work), Quiet())
    for one in (model, other):
        (Workplace(work).place(one) / "weights").write_bytes(bytes(SMALL + 1))
    # Only the goal is left, and it reads both; everything small comes along.
    assert pack(Workplace(work), file, *rest) == 3 * 3 + 2
    there = tmp_path / "there"
    with tarfile.open(file) as archive:
        archive.extractall(there, filter="data")
    assert run_chain(rest, Workplace(there), Quiet()).complete
    assert began(diary) == ["model", "score", "other", "goal"]
    # Where there is room for one, it is the one that took longer.
    names = {path.parent.name.split("-")[0] for path in needed(Workplace(work), *rest, most=SMALL + 9999.0)
             if path.name == "weights"}  # fmt: skip
    assert names == {"model"}
    # When all is done nothing large is needed.
    run_chain(rest, Workplace(work), Quiet())
    # ... but what was found is, however long the list of texts.
    (Workplace(work).place(model) / "outputs.json").write_bytes(bytes(SMALL + 1))
    assert not any(path.name == "weights" for path in needed(Workplace(work), *rest))
    assert any(path.name == "outputs.json" for path in needed(Workplace(work), *rest))
    with pytest.raises(ConfigError, match=r"must end in one of \.xz, \.gz, \.tar, got packed\.zip"):
        pack(Workplace(work), tmp_path / "packed.zip", *rest)


def test_an_archive_for_anybody_has_nothing_of_a_corpus_or_a_model(tmp_path: Path) -> None:
    work = Workplace(tmp_path / "work")
    model = step(tmp_path / "diary", "model")
    goal = step(tmp_path / "diary", "goal", {"x": model})
    run_chain([model], work, Quiet())
    place = work.place(model)
    for name in ("model/config.json", "corpus/test.tokens", "train.txt", "log.jsonl", "outputs.json"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("{}")
    files = {path.relative_to(place).as_posix() for path in needed(work, goal, most=0.0)}
    assert files == {"log.jsonl", "outputs.json", "step.json"}
    assert len(needed(work, goal, most=1.0)) > len(files)


def test_what_a_teacher_wrote_is_packed_before_a_model(tmp_path: Path) -> None:
    """It is quickly written, but not without the teacher, and another one would write something else."""
    diary, work = tmp_path / "diary", tmp_path / "work"
    distilled = step(diary, "distilled", {"x": step(diary, "teacher", seconds=60.0)}, seconds=10.0)
    model = step(diary, "model", seconds=50.0)
    goal = step(diary, "goal", {"x": distilled, "y": model})
    run_chain([distilled, model], Workplace(work), Quiet())
    for one in (distilled, model):
        (Workplace(work).place(one) / "data").write_bytes(bytes(SMALL + 1))
    taken = {path.parent.name.split("-")[0] for path in needed(Workplace(work), goal, most=SMALL + 9999.0)
             if path.name == "data"}  # fmt: skip
    assert taken == {"distilled"}


def test_of_a_step_only_what_is_read_must_be_there(tmp_path: Path) -> None:
    """The test set is small, what it was parted from is large: whoever only tests needs no more."""
    diary, work = tmp_path / "diary", Workplace(tmp_path / "work")
    texts = step(diary, "texts", seconds=60.0)
    table = step(diary, "table", {"x": texts}, parts={"x": ("text", "test.*")})
    model = step(diary, "model", {"x": texts})
    assert table.digest == step(diary, "table", {"x": texts}).digest
    run_chain([texts], work, Quiet())
    (work.place(texts) / "train").write_bytes(bytes(SMALL + 1))
    stamp = json.loads((work.place(texts) / "step.json").read_text())
    stamp["files"]["train"] = SMALL + 1
    (work.place(texts) / "step.json").write_text(json.dumps(stamp))
    assert work.pending(table, model) == [table, model]
    assert "train" not in {path.name for path in needed(work, table)}
    assert "train" in {path.name for path in needed(work, table, model)}
    (work.place(texts) / "train").unlink()
    assert work.pending(table) == [table]
    assert work.pending(table, model) == [texts, table, model], (
        "it is made again for the model, and the table waits"
    )
    assert run_chain(table, work, Quiet()).complete
    assert began(diary) == ["texts", "table"]


def test_packages_of_every_metric_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []
    monkeypatch.setattr(packages, "scorer", lambda name, tokenize=None: asked.append((name, tokenize)))
    first = replace(step(tmp_path, "first"), config={"tokenize": "ja-mecab", "metrics": ["bleu", "rouge-2"]})
    check_packages(step(tmp_path, "second", {"x": first}))
    assert asked == [("bleu", "ja-mecab"), ("bleu", None), ("rouge-2", None)]


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_step_that_fails_says_so_and_leaves_nothing(tmp_path: Path, parallel: int) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"
    goal = step(diary, "goal", {"x": step(diary, "bad", fails=True)})
    with pytest.raises(StepFailed, match=r"bad: this cannot be done\nhint: do something else"):
        run(goal, work, parallel=parallel)
    assert [one.label for one in Workplace(work).pending(goal)] == ["bad", "goal"]


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from counted_steps import Quiet, step
from levt.recipes.reproduce.framework.runner import run_chain
from levt.recipes.reproduce.framework.workplace import Workplace

diary, work = Path({diary!r}), Path({work!r})
first = step(diary, "first")
goal = step(diary, "goal", {{"x": step(diary, "slow", {{"x": first}}, wait={wait})}})
run_chain(goal, Workplace(work), Quiet(), parallel={parallel})
"""


def test_a_kill_loses_one_step_at_most(tmp_path: Path) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"
    here = str(Path(__file__).parent)
    filled = {"here": here, "diary": str(diary), "work": str(work), "parallel": 1}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT.format(**filled, wait=60.0)])
    try:
        end = time.monotonic() + 60
        while not any(work.glob(".slow-*.partial/half")) and time.monotonic() < end:
            time.sleep(0.02)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert began(diary) == ["first", "slow"]
    first = step(diary, "first")
    goal = step(diary, "goal", {"x": step(diary, "slow", {"x": first}, wait=60.0)})
    assert [one.label for one in Workplace(work).pending(goal)] == ["slow", "goal"]
    again = step(diary, "goal", {"x": step(diary, "slow", {"x": first}, wait=0.0)})
    assert run(again, work).complete
    assert began(diary) == ["first", "slow", "slow", "goal"]


def test_who_is_told_to_stop_leaves_no_step_running(tmp_path: Path) -> None:
    diary, work = tmp_path / "diary", tmp_path / "work"
    filled = {"here": str(Path(__file__).parent), "diary": str(diary), "work": str(work), "parallel": 2}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT.format(**filled, wait=60.0)])
    end = time.monotonic() + 60
    while not any(work.glob(".slow-*.partial/half")) and time.monotonic() < end:
        time.sleep(0.02)
    process.terminate()
    assert process.wait(30) == 128 + signal.SIGTERM
    slow = step(diary, "slow", {"x": step(diary, "first")}, wait=60.0)
    with held(work / ".locks" / slow.digest) as free:
        assert free


def test_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match="seeds must be between 1 and 20, got 0"):
        Setting(seeds=0)
