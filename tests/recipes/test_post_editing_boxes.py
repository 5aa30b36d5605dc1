"""Black boxes that a chain trains itself, on one half of a toy: their drafts for the other, words apart."""

from dataclasses import replace
from pathlib import Path

import pytest

from levt.recipes.post_editing_triples import files, of_rows, read
from levt.recipes.reproduce.framework.runner import Watch, run_chain
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job
from levt.recipes.reproduce.framework.workplace import Workplace
from levt.recipes.reproduce.parts.post_editing_pairs import write_lines, write_pairs
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.post_editing_task import TASKS
from levt.recipes.reproduce.parts.post_editing_texts import write_extra
from levt.recipes.synthesis import first_half


class Silent(Watch):
    """Hears nothing."""


@pytest.mark.parametrize("box", ["phrase", "recurrent"])
def test_a_trained_black_box_writes_the_drafts(box: str, tmp_path: Path) -> None:
    work, chains = Workplace(tmp_path), Chains(Setting(scale="toy"))
    task = replace(TASKS["toy"][0], name=f"toy-{box}", black_box=box)
    goal = chains.triples(task)
    assert run_chain(goal, work, Silent()).complete
    pairs, place = work.place(chains.pairs(task.language)), work.place(goal)
    for split, part in (("train", "second"), ("dev", "dev"), ("test", "test")):
        found = read(files(place, split))
        assert found.sources == (pairs / f"{part}.src").read_text("utf-8").splitlines()
        assert found.targets == (pairs / f"{part}.tgt").read_text("utf-8").splitlines()
    if box == "phrase":
        # Word for word is easily learnt: most drafts are right.
        test = read(files(place, "test"))
        right = sum(d.lower() == t.lower() for d, t in zip(test.drafts, test.targets, strict=True))
        assert right >= len(test) / 2


def test_pairs_of_a_language(tmp_path: Path) -> None:
    """Words apart, no training pair that is held out anywhere, halves of the first set by source."""
    data = {
        "train.0.0": [f"House {i}, old." for i in range(40)],
        "train.0.1": [f"Haus {i}, alt." for i in range(40)],
        "train.1.0": ["a tree", "", "house 4 , old ."],
        "train.1.1": ["ein Baum", "leer", "Haus 4"],
        "dev.0": ["House 7, old."], "dev.1": ["Haus 7, alt."],
        "test.0": ["A bear."], "test.1": ["Ein Bär."],
        "held.real.dev": ["house 4 , old ."],
    }  # fmt: skip
    inputs = {name: tmp_path / name for name in data}
    for name, lines in data.items():
        write_lines(inputs[name], lines)
    out = tmp_path / "out"
    out.mkdir()
    write_pairs(Job(label="pairs", inputs=inputs, config={"sets": 2, "limit": 30}, out=out))
    rows = {
        part: list(
            zip(
                *((out / f"{part}.{end}").read_text("utf-8").splitlines() for end in ("src", "tgt")),
                strict=True,
            )
        )
        for part in ("train", "first", "second", "dev", "test")
    }
    expected = [(f"House {i} , old .", f"Haus {i} , alt .") for i in range(30) if i not in (4, 7)]
    assert rows["train"] == [*expected, ("a tree", "ein Baum")]
    assert sorted(rows["first"] + rows["second"]) == sorted(expected)
    assert rows["first"]
    assert all(first_half(source) for source, _ in rows["first"])
    assert rows["dev"] == [("House 7 , old .", "Haus 7 , alt .")]


def test_artificial_triples_lack_what_is_held_out(tmp_path: Path) -> None:
    real, out = tmp_path / "real", tmp_path / "out"
    real.mkdir()
    out.mkdir()
    for split in ("dev", "test"):
        of_rows([(f"{split} .", "x", "y")]).write(files(real, split))
    given = of_rows([("Dev .", "a", "b"), ("new .", "c", "d")])
    inputs = {f"train.{end}": tmp_path / f"train.{end}" for end in ("src", "mt", "pe")}
    given.write(list(inputs.values()))
    write_extra(Job(label="extra", inputs={**inputs, "real": real}, config={}, out=out))
    assert read(files(out, "train")).rows() == [("new .", "c", "d")]
    assert read(files(out, "dev")).sources == ["dev ."]
