"""`levt reproduce --scale paper`, end to end over files of the documented layout: with a network of a few weights."""

import json
import random
from pathlib import Path

import pytest
from counted_steps import Quiet

from levt.recipes.post_editing_triples import files, of_rows
from levt.recipes.reproduce import post_editing_order, reproduction
from levt.recipes.reproduce.framework.publish import publish
from levt.recipes.reproduce.framework.runner import StepFailed, run_chain
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import chain
from levt.recipes.reproduce.framework.workplace import Workplace
from levt.recipes.reproduce.parts import sizes
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.toy import sentence, target

FOLDERS = {
    "wmt16-ro-en": ("ro", "en"), "wmt14-en-de": ("en", "de"), "wat17-en-ja": ("en", "ja"),
    "gigaword": ("article", "title"),
}  # fmt: skip
RECORDED = "ape-keystrokes-en-de"


def lines(path: Path, texts: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as docs/results/reproduce.md describes it, with made-up sentences."""
    folder, rng = tmp_path_factory.mktemp("data"), random.Random(1)
    for name, ends in FOLDERS.items():
        kind = "summary" if name == "gigaword" else "translation"
        for split, count in (("train", 50), ("dev", 4), ("test", 4)):
            sources = [sentence(rng) for _ in range(count)]
            for end, texts in zip(ends, (sources, [target(one, kind) for one in sources]), strict=True):
                lines(folder / name / f"{split}.{end}", texts)
    lines(folder / "monolingual" / "en.txt", [sentence(rng) for _ in range(30)])
    return folder


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy's network and steps in the place of the paper's."""
    monkeypatch.setitem(sizes.SIZES, "paper", sizes.TOY)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("name", ["table-1", "iterations-by-length"])
def test_the_documented_layout_is_enough(name: str, data: Path, tmp_path: Path) -> None:
    pytest.importorskip("MeCab")
    setting = Setting(scale="paper", data=data)
    made, place = reproduction(name), Workplace(tmp_path / "work")
    goal = made.goal(setting)
    assert run_chain(goal, place, Quiet()).complete
    page = publish(made, goal, place, setting, tmp_path).read_text("utf-8")
    assert page.startswith(f"# {made.title}\n\n`levt reproduce {name} --scale paper`")
    known = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))["provenance"]
    read = {path.partition("/")[0] for path in known["data"]}
    assert read == ({*FOLDERS} if name == "table-1" else {"wmt14-en-de", "monolingual"})
    if name == "table-1":
        assert any("tok:ja-mecab" in one for one in known["signatures"])


def test_where_no_recording_fits_nothing_is_trained(tmp_path: Path) -> None:
    """Those who lack the test set that people were recorded with learn so at once, not after the trainings."""
    recordings, rows = tmp_path / RECORDED, [("a bird", "ein Baum", "ein Vogel")]
    recordings.mkdir()
    of_rows(rows).write(files(recordings, "train"))
    lines(recordings / post_editing_order.RECORDED, ["D:1:Baum\tI:1:Vogel\tS:0:None"])
    for split in ("train", "dev", "test"):
        (tmp_path / "wmt17-ape-en-de").mkdir(exist_ok=True)
        of_rows([(f"{split} tree", "ein Baum", "der Baum")]).write(files(tmp_path / "wmt17-ape-en-de", split))
    setting = Setting(scale="paper", data=tmp_path)
    step = post_editing_order.recorded_step(Chains(setting), setting)
    assert [one.label for one in chain(step)] == ["wmt17-ape-en-de.triples", "wmt17-ape-en-de.recorded"]
    with pytest.raises(StepFailed, match=f"no sentence of the test set is among the {RECORDED}"):
        run_chain(step, Workplace(tmp_path / "work"), Quiet())
