"""``levt reproduce`` as a user types it."""

import tarfile
from pathlib import Path

import pytest

from levt.cli import main
from levt.recipes.reproduce.framework.step import Step, chain


def levt(*args: str) -> None:
    main(["reproduce", *args])


def test_without_a_name_it_lists_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    levt()
    said = capsys.readouterr().out.splitlines()
    assert any(line.startswith("table-1 ") and "quality and latency" in line for line in said)


def test_a_dry_run_prints_the_plan_and_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    levt("sharing", "--scale", "toy", "--dry-run")
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("toy-translation ")
    steps = len(said) - 1
    assert said[-1].startswith(f"{steps} of {steps} steps to do, about ")
    assert "fit" not in said[-1]
    assert list(tmp_path.iterdir()) == []
    levt("sharing", "--scale", "toy", "--dry-run", "--budget-minutes", "0.15", "--parallel", "2")
    said = capsys.readouterr().out.splitlines()
    assert "with 2 at a time" in said[-1]
    assert "do not fit into 9 s, such as en-de." in said[-1]


def test_a_budget_stops_before_what_does_not_fit_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    levt("iterations", "--scale", "toy", "--budget-minutes", "0.03")  # 1.8 s: the texts alone
    said = capsys.readouterr().err
    assert "[1/9] toy-translation" in said
    assert "8 steps left" in said
    assert "hint: run the same command again to go on" in said
    assert not (tmp_path / "results").exists()
    levt("iterations", "--scale", "toy", "--dry-run")
    assert capsys.readouterr().out.splitlines()[-1].startswith("8 of 9 steps to do")


def test_several_names_are_one_work_and_it_can_be_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    levt("iterations", "sharing", "--scale", "toy", "--dry-run", "--parallel", "3")
    said = capsys.readouterr().out.splitlines()
    assert len({line.split()[1] for line in said[:-1]}) == len(said) - 1
    assert said[-1].endswith("with 3 at a time")
    levt("iterations", "--scale", "toy", "--budget-minutes", "0.03")
    levt("iterations", "sharing", "--scale", "toy", "--pack", "packed.tar.xz")
    assert "packed.tar.xz: " in capsys.readouterr().err
    with tarfile.open("packed.tar.xz") as archive:
        assert {name.partition("-")[0] for name in archive.getnames()} == {"toy"}
    # On another machine the first step is done.
    levt("iterations", "--scale", "toy", "--work", "there", "--pack", "nothing.tar.gz")
    Path("there").mkdir()
    with tarfile.open("packed.tar.xz") as archive:
        archive.extractall("there", filter="data")
    capsys.readouterr()
    levt("iterations", "--scale", "toy", "--work", "there", "--dry-run")
    assert capsys.readouterr().out.splitlines()[-1].startswith("8 of 9 steps to do")


def test_missing_data_end_with_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        levt("timeout", "--data", str(tmp_path), "--dry-run")
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "ro-sts-en-ro/train.ro is missing" in said
    assert "hint: --data is a folder" in said


def test_tasks_are_for_what_has_several(capsys: pytest.CaptureFixture[str]) -> None:
    for names, said in (
        (["roll-in", "timeout"], "--tasks is not for roll-in"),
        (["table-1"], "there is no task 'en-fr' at scale toy"),
        (["post-editing-quality"], "there is no task 'en-fr' of post-editing"),
    ):
        with pytest.raises(SystemExit):
            levt(*names, "--scale", "toy", "--tasks", "en-fr", "--dry-run")
        assert said in capsys.readouterr().err
    levt("table-1", "roll-in", "--scale", "toy", "--tasks", "en-de", "--dry-run")
    assert "summarisation" not in capsys.readouterr().out


def test_seeds_are_for_what_is_averaged_over_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        levt("iterations", "timeout", "--scale", "toy", "--seeds", "3", "--dry-run")
    said = capsys.readouterr().err
    assert "--seeds would do nothing: iterations, timeout are of one training, that of seed 1" in said
    assert "hint: leave it out" in said
    levt("iterations", "--scale", "toy", "--seeds", "1", "--dry-run")
    levt("iterations", "sharing", "--scale", "toy", "--seeds", "2", "--dry-run")


def test_an_unknown_name_lists_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        levt("table-2")
    assert "table-1" in capsys.readouterr().err


def test_a_missing_package_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        levt("iterations", "--scale", "toy")
    assert "pip install 'levt[eval]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_who_keeps_going_is_only_warned_of_a_missing_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    levt("iterations", "--scale", "toy", "--keep-going", "--budget-minutes", "0.03")
    said = capsys.readouterr().err
    assert "steps that need it will be left" in said
    assert "8 steps left" in said


def test_every_model_is_trained_once_before_any_is_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that pages of one seed can be made where the time is over before those of more."""
    from levt.recipes.reproduce.framework import runner

    asked: dict[str, set[str]] = {}

    def run_chain(goals: list[Step], *rest: object, first: list[Step], **more: object) -> runner.Outcome:
        asked.update(all={s.label for s in chain(*goals)}, first={s.label for s in chain(*first)})
        return runner.Outcome(left=[])

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "run_chain", run_chain)
    levt("sharing", "--scale", "toy", "--seeds", "2", "--parallel", "2")
    assert asked["first"] < asked["all"]
    assert all("seed2" in label for label in asked["all"] - asked["first"])
    assert "en-de.levt-none-distilled.seed2.decoded.score" in asked["all"] - asked["first"]


def test_pages_that_could_not_be_written_are_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("a file")
    with pytest.raises(SystemExit):
        levt("iterations", "--scale", "toy", "--out", "file/pages")
    assert "file is not a folder, so no page can be written to file/pages\nhint:" in capsys.readouterr().err
    (tmp_path / "pages" / "findings").mkdir(parents=True)
    (tmp_path / "pages" / "findings" / "iterations.md").write_bytes("Café".encode("latin-1"))
    with pytest.raises(SystemExit):
        levt("iterations", "--scale", "toy", "--out", "pages")
    said = capsys.readouterr().err
    assert "iterations.md cannot be read: not UTF-8" in said
    assert "hint: it is Markdown in UTF-8" in said
    assert not (tmp_path / "reproduce").exists()


def test_without_a_gpu_the_plan_says_whose_times_it_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from levt.recipes.reproduce import reproduction
    from levt.recipes.reproduce.framework.setting import Setting

    monkeypatch.chdir(tmp_path)
    levt("iterations", "--scale", "toy", "--dry-run")
    assert capsys.readouterr().err == ""  # those are times on a CPU
    steps = [reproduction("iterations").goal(Setting(data=tmp_path))]
    for step in steps:
        steps += [one for one in step.before if one not in steps]
        for file in step.files.values():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("a\n")
    for gpu in (False, True):
        monkeypatch.setattr("torch.cuda.is_available", lambda gpu=gpu: gpu)
        levt("iterations", "--data", str(tmp_path), "--dry-run")
        assert ("no GPU was found" in capsys.readouterr().err) == (not gpu)
