"""From files to stores: the text comes back, what is left out is counted, failure leaves nothing."""

import errno
import json
from pathlib import Path

import pytest

from levt.data.preparation import Preparation
from levt.data.prepare import load_tokenizers, prepare
from levt.data.read import corpora
from levt.data.store import Store
from levt.data.write import StoreWriter
from levt.errors import ConfigError, InputError, StoreError
from levt.text.normalise import Normalisation
from levt.text.tokenizer import Tokenizer

SOURCE = [f"The {animal} number {i} sleeps." for i in range(40) for animal in ("dog", "cat", "crow")]
TARGET = [
    f"{animal} Nummer {i} schläft." for i in range(40) for animal in ("Der Hund", "Die Katze", "Die Krähe")
]
SMALL = Preparation(vocabulary=400)


def files(folder: Path, **lines: list[str]) -> list[Path]:
    paths = []
    for name, texts in lines.items():
        path = folder / name
        path.write_text("".join(text + "\n" for text in texts), encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


def texts(store: Store, tokenizer: Tokenizer, field: str) -> list[str]:
    return [tokenizer.decode(getattr(store, field)(i).tolist()) for i in range(len(store))]


def test_text_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("levt.data.split.CHUNK", 7)
    monkeypatch.setattr("levt.data.split.CHUNK_CHARACTERS", 300)
    train = corpora(files(tmp_path, s=SOURCE, t=TARGET))
    dev = corpora(files(tmp_path, ds=["", "Rare ☃ ▁ <s>"], dt=["leer", ""]))
    stages = []
    reports = prepare(
        tmp_path / "out",
        {"train": train * 2, "dev": dev, "test": []},
        SMALL,
        progress=lambda stage, done, total: stages.append((stage, done, total)),
    )
    source, target = load_tokenizers(tmp_path / "out")
    assert source is target
    store = Store.open(tmp_path / "out" / "train")
    store.verify()
    assert texts(store, source, "source") == SOURCE * 2
    assert texts(store, target, "target") == TARGET * 2
    assert store.fingerprint("source") == source.fingerprint
    held = Store.open(tmp_path / "out" / "dev")
    assert texts(held, source, "source") == ["", "Rare ☃ ▁ <s>"]
    assert texts(held, target, "target") == ["leer", ""]
    assert list(reports) == ["train", "dev"]
    assert reports["train"].examples == 240
    assert reports["train"].tokens["target"] == store.tokens("target")
    assert reports["train"].skipped == reports["dev"].skipped == {}
    assert {stage for stage, _, _ in stages} == {"sampling", "learning the vocabulary", "train", "dev"}
    assert all(done <= total for _, done, total in stages)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "dev",
        "prepare.json",
        "tokenizer.json",
        "train",
    ]
    assert (
        json.loads((tmp_path / "out" / "prepare.json").read_text("utf-8"))["splits"]["train"]["examples"]
        == 240
    )


def test_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    train = corpora(files(tmp_path, s=SOURCE, t=TARGET))
    for name in ("a", "b"):
        prepare(tmp_path / name, {"train": train}, SMALL)
    for path in sorted((tmp_path / "a").rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_separate_vocabularies_and_drafts(tmp_path: Path) -> None:
    triple = corpora(files(tmp_path, s=SOURCE, d=["", *TARGET[:-1]], t=TARGET), draft=True)
    prepare(tmp_path / "out", {"train": triple}, Preparation(vocabulary=400, separate=True))
    source, target = load_tokenizers(tmp_path / "out")
    assert source != target
    store = Store.open(tmp_path / "out" / "train")
    assert texts(store, target, "draft") == ["", *TARGET[:-1]]
    assert texts(store, source, "source") == SOURCE
    assert store.fingerprint("draft") == store.fingerprint("target") == target.fingerprint
    assert store.fingerprint("source") == source.fingerprint


def test_given_tokenizers_are_used(tmp_path: Path) -> None:
    ours, theirs = Tokenizer.train(SOURCE, 300), Tokenizer.from_pieces(["Der", "Hund"])
    dev = corpora(files(tmp_path, s=SOURCE[:3], t=TARGET[:3]))
    prepare(tmp_path / "out", {"dev": dev}, SMALL, tokenizer=theirs, source_tokenizer=ours)
    assert load_tokenizers(tmp_path / "out") == (ours, theirs)
    assert Store.open(tmp_path / "out" / "dev").target(0).tolist() == [5, 6, 3, 3, 3]
    folded = Preparation(normalisation=Normalisation(lowercase=True))
    with pytest.raises(ConfigError, match="in its own way"):
        prepare(tmp_path / "other", {"dev": dev}, folded, tokenizer=ours)
    with pytest.raises(ConfigError, match="need two tokenizers"):
        prepare(tmp_path / "other", {"dev": dev}, Preparation(separate=True), tokenizer=ours)


def test_skipped_lines_are_counted(tmp_path: Path) -> None:
    source = [*SOURCE, "", "long " * 50, "x" * 20_000, SOURCE[0] + " ", "fine"]
    target = [*TARGET, "a", "b", "c", "d", "gut"]
    train = corpora(files(tmp_path, s=source, t=target))
    test = corpora(files(tmp_path, ts=[SOURCE[0], "long " * 50], tt=["a", "b"]))
    settings = Preparation(vocabulary=400, max_length=40, drop_overlap=True)
    reports = prepare(tmp_path / "out", {"train": train, "test": test}, settings)
    assert reports["train"].skipped == {"empty source": 1, "too long": 1, "source also in another split": 3}
    assert reports["train"].examples == len(source) - 5
    assert reports["test"].examples == 2
    assert reports["test"].longest["source"] > 40


def test_lines_with_too_many_tokens(tmp_path: Path) -> None:
    train = corpora(files(tmp_path, s=[*SOURCE, "1234567890" * 5], t=[*TARGET, "a"]))
    reports = prepare(tmp_path / "out", {"train": train}, Preparation(vocabulary=400, max_length=40))
    assert reports["train"].skipped == {"more than 40 tokens": 1}
    with pytest.raises(
        InputError, match=f"train, line {len(SOURCE) + 1}: 5. tokens with boundaries, at most 40"
    ):
        prepare(
            tmp_path / "strict",
            {"train": train},
            Preparation(vocabulary=400, max_length=40, strict=True),
        )
    assert not (tmp_path / "strict").exists()


@pytest.mark.parametrize(
    ("source", "target", "problem"),
    [
        (["a", "b"], ["a"], "same number of lines"),
        ([], [], "no usable"),
        (["", ""], ["a", "b"], "no usable"),
    ],
)
def test_useless_input(tmp_path: Path, source: list[str], target: list[str], problem: str) -> None:
    train = corpora(files(tmp_path, s=source, t=target))
    with pytest.raises(InputError, match=problem):
        prepare(tmp_path / "out", {"train": train}, SMALL)
    with pytest.raises(InputError, match=problem):
        prepare(tmp_path / "out", {"train": train}, SMALL, tokenizer=Tokenizer.train(SOURCE, 300))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "t"]


def test_nothing_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to prepare"):
        prepare(tmp_path / "out", {"train": []}, SMALL)
    dev = corpora(files(tmp_path, s=SOURCE, t=TARGET))
    with pytest.raises(InputError, match="only be learnt from training data"):
        prepare(tmp_path / "out", {"dev": dev}, SMALL)
    with pytest.raises(ConfigError, match="2 problems"):
        Preparation(max_length=2, sample=0)
    with pytest.raises(ConfigError, match="exclude each other"):
        Preparation(strict=True, skip_broken=True)


def test_mixed_drafts(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("s\td\tt\n" * 9)
    (tmp_path / "b.tsv").write_text("s\tt\n")
    with pytest.raises(InputError, match="some examples have a draft, some have none"):
        prepare(tmp_path / "out", {"train": corpora([tmp_path / "a.tsv", tmp_path / "b.tsv"])}, SMALL)


def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = corpora(files(tmp_path, s=SOURCE, t=TARGET))

    def full(self: StoreWriter, rows: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(StoreWriter, "add_flat", full)
        with pytest.raises(StoreError, match="out cannot be written: No space left on device"):
            prepare(tmp_path / "out", {"train": train}, SMALL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "t"]
    prepare(tmp_path / "out", {"train": train}, SMALL)
