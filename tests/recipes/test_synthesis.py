"""Halves, drafts, mixtures: files in, files out, resumed where it was stopped."""

import json
import os
from pathlib import Path

import pytest

from levt.errors import ConfigError, InputError, LevtError, StoreError
from levt.recipes.black_boxes import NoAnswer
from levt.recipes.shards import held
from levt.recipes.synthesis import Synthesis, halves, mix, write_drafts


def write(path: Path, lines: list[str]) -> Path:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def read(path: Path) -> list[str]:
    return path.read_bytes().decode().split("\n")[:-1]


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[Path, Path]:
    sources = [f"house number {i % 70}" for i in range(100)]
    targets = [f"Haus Nummer {i}" for i in range(100)]
    return write(tmp_path / "x", sources), write(tmp_path / "y", targets)


def test_halves_share_no_source_and_lose_no_pair(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    sizes = halves(*corpus, tmp_path / "halves")
    pairs = [
        list(zip(read(part / "source.txt"), read(part / "target.txt"), strict=True))
        for part in (tmp_path / "halves/first", tmp_path / "halves/second")
    ]
    assert sizes == (len(pairs[0]), len(pairs[1]))
    assert all(30 < size < 70 for size in sizes)
    assert not {x for x, _ in pairs[0]} & {x for x, _ in pairs[1]}
    assert sorted(pairs[0] + pairs[1]) == sorted(zip(*map(read, corpus), strict=True))
    other = halves(*corpus, tmp_path / "other", share=0.1, seed=1)
    assert other[0] < sizes[0]
    with pytest.raises(ConfigError, match="share must be"):
        halves(*corpus, tmp_path / "none", share=1.0)


def test_drafts_line_by_line(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    settings = Synthesis(black_box="command:tr a-z A-Z", chunk=30)
    count = write_drafts(*corpus, tmp_path / "out", settings, progress=lambda *a: seen.append(a))
    assert count == 100
    assert read(tmp_path / "out/draft.txt") == [line.upper() for line in read(corpus[0])]
    assert read(tmp_path / "out/source.txt") == read(corpus[0])
    assert read(tmp_path / "out/target.txt") == read(corpus[1])
    assert seen == [(0, 100), (30, 100), (60, 100), (90, 100), (100, 100)]


def test_a_stopped_run_goes_on(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    calls, out = tmp_path / "calls", tmp_path / "out"
    # Fails at its third call, once; afterwards it works.
    command = f"command:echo x >> {calls}; test $(wc -l < {calls}) -ne 3 && sed 's/$/!/'"
    settings = Synthesis(black_box=command, chunk=20)
    with pytest.raises(NoAnswer, match="status 1"):
        write_drafts(*corpus, out, settings)
    assert not (out / "draft.txt").exists()
    # A killed run may leave half a line.
    with (out / "draft.txt.partial").open("ab") as file:
        file.write(b"half a li")
    assert write_drafts(*corpus, out, settings) == 100
    assert read(out / "draft.txt") == [f"{line}!" for line in read(corpus[0])]
    assert len(read(calls)) == 3 + 3
    # Finished is finished, even where somebody was killed who began to remove it.
    (out / "source.txt").unlink()
    assert write_drafts(*corpus, out, settings) == 100
    assert len(read(calls)) == 6
    assert read(out / "source.txt") == read(corpus[0])


def test_one_at_a_time(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    write_drafts(*corpus, tmp_path / "out", Synthesis(black_box="command:cat"))
    with (
        held(tmp_path / "out" / ".lock"),
        pytest.raises(StoreError, match="is being written by another process"),
    ):
        write_drafts(*corpus, tmp_path / "out", Synthesis(black_box="command:cat"))


def test_another_run_does_not_mix_in(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    write_drafts(*corpus, tmp_path / "out", Synthesis(black_box="command:cat"))
    with pytest.raises(StoreError, match="another run: black_box differ"):
        write_drafts(*corpus, tmp_path / "out", Synthesis(black_box="command:rev"))
    write(corpus[0], [*read(corpus[0])[:-1], "changed"])
    with pytest.raises(StoreError, match="source differ"):
        write_drafts(*corpus, tmp_path / "out", Synthesis(black_box="command:cat"))


def test_files_of_others_are_left_alone(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    settings = Synthesis(black_box="command:cat")
    for name in ("source.txt", "draft.txt", "target.txt"):
        mine = tmp_path / name / name
        mine.parent.mkdir()
        mine.write_text("mine\n", encoding="utf-8")
        with pytest.raises(StoreError, match=f"{name} exists already, and no run has written it"):
            write_drafts(*corpus, mine.parent, settings)
        assert read(mine) == ["mine"]
    # The corpus itself may lie there, but not the wrong way round: it would be lost.
    halves(*corpus, tmp_path / "halves")
    half = tmp_path / "halves" / "first"
    source, target = half / "source.txt", half / "target.txt"
    before = read(source), read(target)
    with pytest.raises(StoreError, match="no run has written it"):
        write_drafts(target, source, half, settings)
    assert write_drafts(source, target, half, settings) == len(before[0])
    assert (read(source), read(target), read(half / "draft.txt")) == (*before, before[0])


def test_a_mistake_before_the_first_draft_binds_nobody(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    for wrong in ("phrase:no-such-folder", "command:no-such-command"):
        with pytest.raises(LevtError):
            write_drafts(*corpus, tmp_path / "out", Synthesis(black_box=wrong))
    assert write_drafts(*corpus, tmp_path / "out", Synthesis(black_box="command:cat")) == 100


def test_processes_change_nothing(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    settings = Synthesis(black_box="command:tr a-z A-Z", chunk=7, processes=2)
    write_drafts(*corpus, tmp_path / "out", settings)
    assert read(tmp_path / "out/draft.txt") == [line.upper() for line in read(corpus[0])]
    broken = Synthesis(black_box="command:head -n 1", chunk=7, processes=2)
    with pytest.raises(NoAnswer, match="answered 1 lines for 7"):
        write_drafts(*corpus, tmp_path / "broken", broken)


def test_breaks_in_a_draft_become_spaces(tmp_path: Path) -> None:
    x, y = write(tmp_path / "x", ["a", "b"]), write(tmp_path / "y", ["c", "d"])
    write_drafts(x, y, tmp_path / "out", Synthesis(black_box="command:sed 's/$/\u2028e/'"))
    assert read(tmp_path / "out/draft.txt") == ["a e", "b e"]


def test_files_must_be_aligned(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    short = write(tmp_path / "short", ["one"])
    with pytest.raises(InputError, match="short has fewer lines"):
        write_drafts(corpus[0], short, tmp_path / "out", Synthesis(black_box="command:cat"))
    with pytest.raises(InputError, match="short has fewer lines"):
        halves(short, corpus[1], tmp_path / "halves")
    assert not (tmp_path / "halves").exists()


def test_real_triples_are_repeated(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    write_drafts(*corpus, tmp_path / "synthetic", Synthesis(black_box="command:cat"))
    real = [write(tmp_path / name, [f"{name}1", f"{name}2"]) for name in "smp"]
    assert mix([tmp_path / "synthetic"], real, tmp_path / "mixed", times=10) == (100, 20)
    triples = list(
        zip(*(read(tmp_path / f"mixed/{n}.txt") for n in ("source", "draft", "target")), strict=True)
    )
    assert len(triples) == 120
    assert triples.count(("s1", "m1", "p1")) == triples.count(("s2", "m2", "p2")) == 10
    with pytest.raises(InputError, match="three files"):
        mix([tmp_path / "synthetic"], real[:2], tmp_path / "other")


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
def test_what_can_be_read_only_once_is_refused(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    source, target = corpus
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="pipe can be read only once"):
        write_drafts(pipe, target, tmp_path / "out", Synthesis(black_box="command:cat"))
    with pytest.raises(InputError, match="pipe can be read only once"):
        mix([source, source, target], [source, pipe, target], tmp_path / "mixed", times=2)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "mixed").exists()


def test_the_note_says_what_it_was(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    write_drafts(*corpus, tmp_path / "out", Synthesis(black_box="command:cat"))
    note = json.loads((tmp_path / "out/synthesis.json").read_text("utf-8"))
    assert note["black_box"] == "command:cat"
    assert note["lines"] == 100
