"""The page of a chain: its findings, where its numbers come from, and the command that makes it."""

import json
from pathlib import Path

import pytest
from counted_steps import Quiet, diamond, last, step

from levt.recipes.reproduce import Reproduction
from levt.recipes.reproduce.framework.publish import publish
from levt.recipes.reproduce.framework.runner import run_chain
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Step
from levt.recipes.reproduce.framework.workplace import Workplace


def test_the_page_has_the_findings_and_all_provenance(tmp_path: Path) -> None:
    diary, work, out = tmp_path / "diary", tmp_path / "work", tmp_path / "out"
    file = tmp_path / "set" / "file"
    file.parent.mkdir()
    file.write_text("one")
    goal = Step(label="page", run=last, inputs={"text": diamond(diary, file=file)}, config={"seed": 7})
    run_chain(goal, Workplace(work), Quiet())
    made = Reproduction(name="thing", title="A thing", goal=lambda setting: goal)
    setting = Setting(scale="toy")
    page = publish(made, goal, Workplace(work), setting, out).read_text("utf-8")
    assert "findings/thing.md" in page
    assert "`levt reproduce thing --scale toy` on" in page
    (out / "findings").mkdir()
    (out / "findings" / "thing.md").write_text("It agrees.")
    page = publish(made, goal, Workplace(work), setting, out).read_text("utf-8")
    assert "It agrees." in page
    assert "| goal(left(first(one)),right(first(one))) | 1.25 |" in page
    assert "`sig:1`" in page
    known = json.loads((out / "thing.json").read_text("utf-8"))["provenance"]
    assert known["seeds"] == [7]
    assert known["data"] == {"set/file": known["steps"][0]["data"]["file"]["sha256"]}
    assert [one["label"] for one in known["steps"]] == ["first", "left", "right", "goal", "page"]
    assert {"hardware", "versions", "code"} <= set(known["where"][0])
    assert str(tmp_path) not in json.dumps({**known, "steps": []})


@pytest.mark.parametrize(
    ("by_task", "averaged", "options"),
    [
        (True, True, "--scale quick --tasks one two --seeds 2"),
        (False, True, "--scale quick --seeds 2"),
        (False, False, "--scale quick"),
    ],
)
def test_a_page_names_the_command_that_makes_it(
    by_task: bool, averaged: bool, options: str, tmp_path: Path
) -> None:
    def goal(setting: Setting) -> Step:
        seeds = max(setting.seeds, setting.close_calls) if averaged else 1
        return Step(
            label="page", run=last, inputs={"text": step(tmp_path / "diary", "text", says=f"{seeds}")}
        )

    made = Reproduction(name="thing", title="A thing", goal=goal, by_task=by_task)
    setting = Setting(scale="quick", seeds=2, tasks=("one", "two"))
    run_chain(goal(setting), Workplace(tmp_path), Quiet())
    page = publish(made, goal(setting), Workplace(tmp_path), setting, tmp_path / "out").read_text("utf-8")
    assert f"`levt reproduce thing {options}` on" in page
