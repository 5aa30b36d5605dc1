"""Distillation: exactly one target for each source, in order, whatever the teacher does and whoever is killed."""

import filecmp
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from toy_corpus import toy_corpus, toy_experiment, toy_model

import levt
from levt.data.prepare import load_tokenizers
from levt.data.store import Store
from levt.engine.model import Model
from levt.engine.result import Result
from levt.engine.story import Story
from levt.errors import ConfigError, InputError, StoreError
from levt.policy.folder import Tokenizers
from levt.recipes import teacher as teacher_module
from levt.recipes.distil import Distilled, distil
from levt.recipes.distillation import Distillation
from levt.recipes.experiment import run
from levt.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_corpus(tmp_path_factory.mktemp("triples"), draft=True, train=40)


@pytest.fixture(scope="module")
def teachers(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A model folder of each kind, hardly trained."""
    folder = tmp_path_factory.mktemp("teachers")

    def made(kind: str) -> Path:
        if not (folder / kind).exists():
            run(toy_experiment(corpus, folder / kind, kind, training={"max_steps": 40, "validate_every": 40}))
        return folder / kind / "best"

    return made


def equal(one: Path, two: Path) -> bool:
    """Whether two folders hold the same files with the same bytes."""
    names = [sorted(p.relative_to(top) for p in top.rglob("*") if p.is_file()) for top in (one, two)]
    return names[0] == names[1] and all(filecmp.cmp(one / n, two / n, shallow=False) for n in names[0])


def texts(folder: Path, field: str) -> list[str]:
    store, (source, target) = Store.open(folder / "train"), load_tokenizers(folder)
    tokenizer = source if field == "source" else target
    return tokenizer.decode_batch([store._row(field, i).tolist() for i in range(len(store))])


class Scripted(Model):
    """A teacher that writes what a function of the source says, and how it came to an end."""

    kind = "autoregressive"  # type: ignore[assignment]

    def __init__(self, corpus: Path, says: Callable[[str], tuple[str, str]], positions: int = 64) -> None:
        self.says = says
        self.tokenizers = Tokenizers(*load_tokenizers(corpus))
        self.engine = SimpleNamespace(  # type: ignore[assignment]
            tokenizers=self.tokenizers, config=SimpleNamespace(max_length=positions)
        )

    def translate(self, sources: list[str], **_: Any) -> list[Result]:  # type: ignore[override]
        return [self._one(source) for source in sources]

    def _one(self, source: str) -> Result:
        text, stopped = self.says(source)
        if stopped == "error":
            raise InputError("a word that is longer than the model can read")
        tokenizer = self.tokenizers.target
        story = Story(draft=(), rounds=(), stopped=None, tokenizer=tokenizer)
        return Result(
            text=text, tokens=tuple(tokenizer.encode(text)), pieces=(), score=0.0, iterations=1, passes=1,
            stopped=stopped, story=story,
        )  # fmt: skip


@pytest.fixture
def scripted(corpus: Path, teachers: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Distil with a scripted teacher in the place of a real one."""

    def distilled(out: Path, says: Callable[[str], tuple[str, str]], **settings: Any) -> Distilled:
        model = Scripted(corpus, says)
        monkeypatch.setattr(teacher_module, "load", lambda *_, **__: model)
        return distil(teachers("autoregressive"), corpus, out, Distillation(shard=7, **settings))

    return distilled


def test_one_target_for_each_source_in_order(corpus: Path, tmp_path: Path, scripted: Any) -> None:
    found = scripted(tmp_path / "out", lambda source: (source.upper(), "ended"))
    assert found == Distilled(40, {})
    assert texts(tmp_path / "out", "source") == texts(corpus, "source")
    assert texts(tmp_path / "out", "draft") == texts(corpus, "draft")
    assert texts(tmp_path / "out", "target") == [text.upper() for text in texts(corpus, "source")]
    for name in ("dev", "test"):
        assert equal(corpus / name, tmp_path / "out" / name)
    for name in ("tokenizer.json", "prepare.json"):
        assert filecmp.cmp(corpus / name, tmp_path / "out" / name, shallow=False)
    Store.open(tmp_path / "out" / "train").verify()
    assert not (tmp_path / "out.work").exists()
    note = json.loads((tmp_path / "out" / "distill.json").read_text("utf-8"))
    assert note["teacher"]["kind"] == "autoregressive"
    assert (note["examples"], note["kept"]) == (40, {})


def test_where_a_teacher_fails_the_reference_stays_and_is_counted(
    corpus: Path, tmp_path: Path, scripted: Any
) -> None:
    sources, references = texts(corpus, "source"), texts(corpus, "target")
    trouble = {
        sources[3]: ("", "ended"),
        sources[10]: ("  ", "ended"),
        sources[11]: ("ab " * 9, "limit"),
        sources[25]: ("xyz" * 40, "ended"),
        sources[39]: ("", "error"),
    }
    original = teacher_module.Writer._readable

    def readable(self: Any, source: str, draft: str) -> bool:
        """What raises an error looks too long, and is tried by itself."""
        return original(self, source, draft) and trouble.get(source, ("", ""))[1] != "error"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teacher_module.Writer, "_readable", readable)
        found = scripted(tmp_path / "out", lambda source: trouble.get(source, (source.upper(), "ended")))
    counted = dict.fromkeys(("empty", "too long", "unfinished", "unreadable source"), 0)
    for i, (source, target) in enumerate(zip(sources, texts(tmp_path / "out", "target"), strict=True)):
        if source not in trouble:
            assert target == source.upper()
            continue
        assert target == references[i]
        text, stopped = trouble[source]
        reason = (
            "unreadable source" if stopped == "error" else "unfinished" if stopped == "limit"
            else "too long" if text.strip() else "empty"
        )  # fmt: skip
        counted[reason] += 1
    assert found.kept == counted
    assert sum(counted.values()) >= 5


KINDS = ["autoregressive", "recurrent", "levt", "post-editing", "masked", "denoising", "insertion"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_teacher(kind: str, corpus: Path, teachers: Any, tmp_path: Path) -> None:
    """The targets are what the model writes for the sources, read again by the tokenizer."""
    settings = Distillation(beam=2, shard=9)
    distil(teachers(kind), corpus, tmp_path / "out", settings)
    model = levt.load(teachers(kind), device="cpu")
    sources, drafts, references = (texts(corpus, field) for field in ("source", "draft", "target"))
    if kind in ("levt", "post-editing"):
        options = {"beam": 2} if kind == "post-editing" else {}
        results = model.refine(sources, draft=drafts, **options)
    elif kind in ("autoregressive", "recurrent"):
        results = model.translate(sources, beam=2)
    else:
        results = model.translate(sources, **({"length_beam": 2} if kind == "masked" else {}))
    tokenizer = Tokenizer.load(corpus / "tokenizer.json")
    store = Store.open(tmp_path / "out" / "train")
    taken = 0
    for i, result in enumerate(results):
        tokens = tokenizer.encode(result.text)
        unfinished = result.stopped == "limit" and kind in ("autoregressive", "recurrent", "post-editing")
        if not tokens or unfinished:
            tokens = tokenizer.encode(references[i])
        else:
            taken += 1
        assert store.target(i).tolist() == tokens
    assert taken > 0 or kind in ("recurrent", "insertion"), "hardly trained, they do not end, or begin"


def test_a_levt_teacher_may_write_from_nothing(corpus: Path, teachers: Any, tmp_path: Path) -> None:
    distil(teachers("levt"), corpus, tmp_path / "out", Distillation(from_scratch=True, max_iterations=3))
    model = levt.load(teachers("levt"), device="cpu")
    sources = texts(corpus, "source")
    results = [r.text for r in model.translate(sources, max_iterations=3)]
    got = texts(tmp_path / "out", "target")
    assert [a for a, b in zip(got, results, strict=True) if b] == [b for b in results if b]


def test_the_student_learns_from_it(corpus: Path, teachers: Any, tmp_path: Path) -> None:
    distil(teachers("autoregressive"), corpus, tmp_path / "out", Distillation(beam=1))
    assert run(toy_experiment(tmp_path / "out", tmp_path / "student")).step == 6


def test_another_vocabulary_and_sentences_too_long_for_the_teacher(tmp_path: Path) -> None:
    """The teacher has its own tokenizer and few positions: long texts go through it in parts."""
    lines = ["the red bird sees a tree"] * 20 + [
        "the red bird sees a tree and a small bear likes the old tree"
    ] * 3
    corpus = toy_corpus(tmp_path / "one", lines=lines)
    other = toy_corpus(tmp_path / "two", train=60)
    positions = Store.open(other / "train").longest("target") + 2
    run(toy_experiment(other, tmp_path / "run", model=toy_model("autoregressive", max_length=positions)))
    found = distil(tmp_path / "run" / "best", corpus, tmp_path / "out", Distillation(beam=1))
    assert found.examples == 23
    assert len(Store.open(tmp_path / "out" / "train")) == 23


def test_processes_and_pieces_change_nothing(corpus: Path, teachers: Any, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    teacher = teachers("autoregressive")
    distil(teacher, corpus, tmp_path / "one", Distillation(shard=40), progress=lambda *now: told.append(now))
    assert told[0] == (0, 40)
    assert told[-1] == (40, 40)
    distil(teacher, corpus, tmp_path / "two", Distillation(shard=3), processes=2)
    assert equal(tmp_path / "one", tmp_path / "two")


def test_finished_pieces_are_not_done_again(corpus: Path, tmp_path: Path, scripted: Any) -> None:
    class Killed(BaseException):
        pass

    seen: list[str] = []

    def says(source: str) -> tuple[str, str]:
        seen.append(source)
        if len(seen) == 24:
            raise Killed
        return source.upper(), "ended"

    with pytest.raises(Killed):
        scripted(tmp_path / "out", says)
    assert not (tmp_path / "out").exists()
    before = len(seen)
    scripted(tmp_path / "out", says)
    assert len(seen) - before == 40 - 21, "three pieces of seven were done"
    scripted(tmp_path / "whole", lambda source: (source.upper(), "ended"))
    assert equal(tmp_path / "out", tmp_path / "whole")


@pytest.mark.parametrize(
    "piece", ['{"kept": {}}', '{"targets": []}', "[]", "7", '{"targets": 7, "kept": {}}']
)
def test_a_piece_that_is_none_is_refused(corpus: Path, tmp_path: Path, scripted: Any, piece: str) -> None:
    class Killed(BaseException):
        pass

    def says(source: str) -> tuple[str, str]:
        if (tmp_path / "out.work" / "00000.json").exists():
            raise Killed
        return source.upper(), "ended"

    with pytest.raises(Killed):
        scripted(tmp_path / "out", says)
    (tmp_path / "out.work" / "00000.json").write_text(piece, encoding="utf-8")
    with pytest.raises(
        StoreError, match=r"00000.json is damaged: .*\nhint: remove it and run the command again"
    ):
        scripted(tmp_path / "out", lambda source: (source.upper(), "ended"))
    (tmp_path / "out.work" / "00000.json").unlink()
    assert scripted(tmp_path / "out", lambda source: (source.upper(), "ended")).examples == 40


def test_a_finished_corpus_is_left_as_it_is(corpus: Path, teachers: Any, tmp_path: Path) -> None:
    settings = Distillation(beam=1)
    first = distil(teachers("autoregressive"), corpus, tmp_path / "out", settings)
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*")}
    # Killed between the corpus and the removal of what it was made of.
    (tmp_path / "out.work").mkdir()
    (tmp_path / "out.work" / "00000.json").write_text("{}", encoding="utf-8")
    again = distil(teachers("autoregressive"), corpus, tmp_path / "out", settings)
    assert again == first
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*")} == times
    assert not (tmp_path / "out.work").exists()
    for other in (Distillation(beam=3), Distillation(beam=1, length_penalty=0.5)):
        with pytest.raises(StoreError, match="was not made from this teacher"):
            distil(teachers("autoregressive"), corpus, tmp_path / "out", other)
        assert not (tmp_path / "out.work").exists(), "what is refused leaves nothing"
    with pytest.raises(StoreError, match="was not made from this teacher"):
        distil(teachers("levt"), corpus, tmp_path / "out", settings)
    with pytest.raises(StoreError, match="was not made from this teacher"):
        distil(teachers("levt"), corpus, corpus, settings)


def test_only_the_corpus_is_taken_over(tmp_path: Path, teachers: Any) -> None:
    corpus = toy_corpus(tmp_path / "corpus", draft=True, train=10)
    (corpus / "run").mkdir()
    (corpus / ".hidden").touch()
    before = {path.name for path in corpus.iterdir()}
    distil(teachers("autoregressive"), corpus, corpus / "out", Distillation(beam=1, shard=5))
    assert {path.name for path in (corpus / "out").iterdir()} == before - {"run", ".hidden"} | {
        "distill.json"
    }
    assert {path.name for path in corpus.iterdir()} == before | {"out"}


def test_pieces_of_another_teacher_are_not_taken(corpus: Path, teachers: Any, tmp_path: Path) -> None:
    (tmp_path / "out.work").mkdir()
    (tmp_path / "out.work" / "identity.json").write_text('{"teacher": "another"}', encoding="utf-8")
    with pytest.raises(StoreError, match=r"out.work holds the beginning of other work"):
        distil(teachers("levt"), corpus, tmp_path / "out")


def test_what_cannot_be_done_is_refused(corpus: Path, teachers: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="beam must be at least 1, got 0"):
        Distillation(beam=0)
    for number in (math.nan, math.inf, -1.0):
        with pytest.raises(ConfigError, match=f"length_penalty must be between 0 and 10, got {number}"):
            Distillation(length_penalty=number)
    with pytest.raises(ConfigError, match="processes must be at least 1, got 0"):
        distil(teachers("levt"), corpus, tmp_path / "out", processes=0)
    pairs = toy_corpus(tmp_path / "pairs", tokenizer=Tokenizer.load(corpus / "tokenizer.json"))
    with pytest.raises(ConfigError, match="a post-editing teacher reads drafts"):
        distil(teachers("post-editing"), pairs, tmp_path / "out")
    assert not (tmp_path / "out.work").exists(), "another teacher may begin there"
    pieces = toy_corpus(tmp_path / "pieces", tokenizer=Tokenizer.from_pieces(["the", "red"]))
    with pytest.raises(ConfigError, match="cut into given pieces, and the teacher has others"):
        distil(teachers("levt"), pieces, tmp_path / "out2", processes=2)
