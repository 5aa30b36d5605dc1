"""Preparing in several processes: the same bytes whatever their number; folders of shards; pipes."""

import filecmp
import os
import threading
from functools import partial
from pathlib import Path

import pytest

from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora, shards_in
from levt.data.store import Store
from levt.data.write import StoreWriter
from levt.errors import ConfigError, InputError
from levt.text.tokenizer import Tokenizer

SOURCE = [
    f"The {animal} number {i} sleeps{' a lot' * (i % 7)}." for i in range(40) for animal in ("dog", "cat")
]
TARGET = [
    f"{animal} Nummer {i} schläft{' sehr' * (i % 5)}."
    for i in range(40)
    for animal in ("Der Hund", "Die Katze")
]
SOURCE[3], TARGET[50] = "a b c d " * 20, "ä ö ü " * 20


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Parallel shards in the folders en and de, with a mark that is no data."""
    for name, lines in (("en", SOURCE), ("de", TARGET)):
        (tmp_path / name).mkdir()
        for shard in range(3):
            (tmp_path / name / f"{shard}.txt").write_text("\n".join(lines[shard::3]) + "\n", encoding="utf-8")
        (tmp_path / name / "_SUCCESS").touch()
    (tmp_path / "dev.en").write_text(f"{SOURCE[5]}\n{SOURCE[70]}\n", encoding="utf-8")
    (tmp_path / "dev.de").write_text("eins\nzwei\n", encoding="utf-8")
    return tmp_path


def same(one: Path, two: Path) -> bool:
    names = [sorted(p.relative_to(top) for p in top.rglob("*") if p.is_file()) for top in (one, two)]
    return names[0] == names[1] and all(filecmp.cmp(one / n, two / n, shallow=False) for n in names[0])


def test_the_number_of_processes_changes_no_byte(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With sources that are also in dev, and rows that are too long, in chunks and shards that end anywhere."""
    monkeypatch.setattr("levt.data.split.CHUNK", 7)
    monkeypatch.setattr("levt.data.split.StoreWriter", partial(StoreWriter, shard_size=20))
    splits = {
        "train": corpora([folders / "en", folders / "de"]),
        "dev": corpora([folders / "dev.en", folders / "dev.de"]),
    }
    settings = Preparation(vocabulary=400, max_length=40, drop_overlap=True)
    reports = {n: prepare(folders / f"out{n}", splits, settings, processes=n) for n in (1, 2)}
    assert reports[1]["train"].skipped["source also in another split"] == 2
    assert reports[1]["train"].skipped["more than 40 tokens"] == 2
    assert reports[1]["train"].examples + sum(reports[1]["train"].skipped.values()) == len(SOURCE)
    assert same(folders / "out1", folders / "out2")
    store = Store.open(folders / "out2" / "train")
    store.verify()
    assert len(store.meta["shards"]) > 2


def test_folders_are_their_files_side_by_side(folders: Path) -> None:
    found = corpora([folders / "en", folders / "de"])
    assert [[path.parent.name + path.name for path in corpus.files] for corpus in found] == [
        [f"en{i}.txt", f"de{i}.txt"] for i in range(3)
    ]
    (folders / "tables").mkdir()
    for name in ("b.jsonl", "a.tsv"):
        (folders / "tables" / name).touch()
    assert [corpus.layout for corpus in corpora([folders / "tables", folders / "en", folders / "de"])] == [
        "tsv", "jsonl", "parallel", "parallel", "parallel",
    ]  # fmt: skip
    (folders / "de" / "2.txt").unlink()
    with pytest.raises(InputError, match="3 and 2 files"):
        corpora([folders / "en", folders / "de"])
    with pytest.raises(InputError, match="3 files"):
        corpora([folders / "en"])
    (folders / "empty").mkdir()
    with pytest.raises(InputError, match="no file in"):
        shards_in(folders / "empty")


def test_pipes_and_devices_are_files(folders: Path) -> None:
    """A pipe can be read, once; training data is needed twice unless there is a tokenizer."""
    os.mkfifo(folders / "pipe")
    train = corpora([folders / "pipe", folders / "en" / "0.txt"])
    with pytest.raises(InputError, match="pipe can be read only once"):
        prepare(folders / "out", {"train": train}, Preparation())
    tokenizer = Tokenizer.train(SOURCE, 300)
    lines = (folders / "de" / "0.txt").read_text("utf-8")
    filler = threading.Thread(target=lambda: (folders / "pipe").write_text(lines, encoding="utf-8"))
    filler.start()
    reports = prepare(folders / "out", {"train": train}, Preparation(), tokenizer=tokenizer)
    filler.join()
    assert reports["train"].examples == len(lines.splitlines())
    nothing = corpora([Path("/dev/null"), Path("/dev/null")])
    with pytest.raises(InputError, match="no usable example"):
        prepare(folders / "nothing", {"train": nothing}, Preparation(), tokenizer=tokenizer)
    with pytest.raises(ConfigError, match="processes must be at least 1, got 0"):
        prepare(folders / "zero", {"train": nothing}, Preparation(), processes=0)
