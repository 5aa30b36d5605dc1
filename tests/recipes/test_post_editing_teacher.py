"""Post-editing learnt from a teacher's texts, and in a language whose words have no spaces between them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from levt.data.prepare import load_tokenizers
from levt.data.store import Store
from levt.policy.folder import load_folder
from levt.recipes.post_editing_triples import files, read
from levt.recipes.reproduce.framework.runner import Watch, run_chain
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Step, chain
from levt.recipes.reproduce.framework.workplace import Workplace
from levt.recipes.reproduce.parts.decoding import read_outputs
from levt.recipes.reproduce.parts.packages import check_packages
from levt.recipes.reproduce.parts.post_editing_language import Language
from levt.recipes.reproduce.parts.post_editing_outputs import outputs_step
from levt.recipes.reproduce.parts.post_editing_pairs import _apart
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.post_editing_task import (
    SCRATCH,
    TASKS,
    TRANSFORMER,
    ZERO_SHOT,
    PostEditingTask,
)


class Quiet(Watch):
    """Hears nothing."""


def test_what_a_teacher_writes_takes_the_place_of_the_references(tmp_path: Path) -> None:
    """Drafts, sources and held-out texts stay; the test set is edited by Algorithm 2 alone where that is asked for."""
    known, chains, work = TASKS["toy"][0], Chains(Setting(scale="toy")), Workplace(tmp_path)
    task = replace(known, language=replace(known.language, expert="distilled"))
    scratch = chains.system(task, SCRATCH)
    edited = outputs_step(
        "edited", scratch, chains.triples(task), dial=True, dev_limit=6, samples=40, seconds=1.0, plain=True
    )
    assert run_chain([edited, chains.system(task, ZERO_SHOT)], work, Quiet()).complete
    assert len(read_outputs(work.place(edited))["texts"]) == 6
    corpus = scratch.inputs["corpus"]
    assert isinstance(corpus, Step)
    given, taught = (
        {split: Store.open(work.place(step) / "corpus" / split) for split in ("train", "dev")}
        for step in (chains.corpus(task), corpus)
    )

    def column(store: Store, field: str) -> list[list[int]]:
        return [part.tolist() for part in store.gather(field, np.arange(len(store)))]

    for field in ("source", "draft"):
        assert column(taught["train"], field) == column(given["train"], field)
    assert column(taught["train"], "target") != column(given["train"], "target")
    assert column(taught["dev"], "target") == column(given["dev"], "target")
    # The Transformer that reads drafts is another matter.
    assert chains.system(task, TRANSFORMER).read["corpus"] == chains.corpus(task).digest


def test_words_that_stand_apart_are_left_as_they_are(tmp_path: Path) -> None:
    texts = {end: tmp_path / f"train.{end}" for end in ("src", "pe")}
    for path in texts.values():
        path.write_text('a "b&c" , d.\n', encoding="utf-8")
    assert _apart(*texts.values(), None, "none") == [('a "b&c" , d.',) * 2]
    assert _apart(*texts.values(), None) == [('a " b & c " , d .',) * 2]


PAIRS = [
    ("I see a dog.", "私は犬を見る。"),
    ("I see a cat.", "私は猫を見る。"),
    ("It is a dog.", "それは犬です。"),
]


def test_japanese_has_its_words_apart_and_vocabularies_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("MeCab")
    data = tmp_path / "data" / "en-ja"
    data.mkdir(parents=True)
    for split, first in (("train", 0), ("dev", 100), ("test", 200)):
        rows = [
            (f"{x} {n}", f"{y}{n}") for n in range(first, first + (40 if first == 0 else 4)) for x, y in PAIRS
        ]
        for side, end in enumerate(("en", "ja")):
            text = "".join(f"{row[side]}\n" for row in rows)
            (data / f"{split}.{end}").write_text(text, encoding="utf-8")
    language = Language(
        name="en-ja",
        train=(("en-ja/train.en", "en-ja/train.ja"),),
        dev=("en-ja/dev.en", "en-ja/dev.ja"),
        test=("en-ja/test.en", "en-ja/test.ja"),
        vocabulary=330,
        separate=True,
        tokenize="ja-mecab",
    )
    task = PostEditingTask(
        name="en-ja-cat", title="", system="cat", language=language, black_box="command:cat", dropout=0.1
    )
    chains, work = Chains(Setting(scale="toy", data=data.parent)), Workplace(tmp_path / "work")
    goals = [chains.system(task, SCRATCH), chains.system(task, TRANSFORMER)]
    check_packages(*goals)
    assert any(step.config.get("tokenize") == "ja-mecab" for step in chain(*goals))
    assert run_chain(goals, work, Quiet()).complete
    triples = read(files(work.place(chains.triples(task)), "dev"))
    assert triples.targets[0] == "私 は 犬 を 見る 。 100"
    assert triples.sources[0] == "I see a dog . 100"
    source, target = load_tokenizers(work.place(chains.corpus(task)) / "corpus")
    assert source.fingerprint != target.fingerprint
    for goal in goals:
        folder = load_folder(work.place(goal) / "model")
        assert folder.model.config.joint_embeddings is False
        assert folder.tokenizers.source.fingerprint == source.fingerprint
