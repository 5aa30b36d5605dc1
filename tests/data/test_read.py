"""Files become records, lines end where they should, and what cannot serve is named or counted."""

import gzip
import json
import lzma
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.data.lines import Lines
from levt.data.read import Corpus, Record, Sieve, corpora
from levt.errors import ConfigError, InputError

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=30)


def write(path: Path, data: bytes) -> Path:
    pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(data))
    return path


def texts(path: Path, max_bytes: int = 1000) -> list[str]:
    return [line.text for line in Lines(path, max_bytes=max_bytes)]


@given(lines=st.lists(TEXT, max_size=10), ending=st.sampled_from(["\n", "\r\n"]), last=st.booleans())
@settings(max_examples=100)
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_lines_end_at_newlines_only(tmp_path_factory, suffix: str, lines, ending: str, last: bool) -> None:
    # A last line that is empty and not ended is no line.
    last = last or not lines or lines[-1] == ""
    whole = ending.join(lines) + (ending if last and lines else "")
    path = write(tmp_path_factory.getbasetemp() / f"lines{suffix}", whole.encode())
    lines = [lines[0].removeprefix("\ufeff"), *lines[1:]] if lines else []
    assert texts(path) == lines
    reader = Lines(path, max_bytes=1000)
    assert [line.number for line in reader] == list(range(1, len(lines) + 1))
    assert reader.position == path.stat().st_size


def test_other_line_separators_are_text(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "a\u2028b\u0085c\x0bd\x0ce\x1cf\rg\n".encode())
    assert texts(path) == ["a\u2028b\u0085c\x0bd\x0ce\x1cf\rg"]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("excess", [0, 1, 2, 3, 100_000])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_long_lines_are_read_past(tmp_path: Path, ending: bytes, excess: int, mark: bytes) -> None:
    path = write(tmp_path / "a", mark + b"x" * (50 + excess) + ending + b"after" + ending)
    first, second = Lines(path, max_bytes=50)
    assert (first.text, second.text) == ("x" * 50 if excess == 0 else "", "after")
    assert (first.problem is None) == (excess == 0)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_pairs_and_triples_of_parallel_files(tmp_path: Path, suffix: str) -> None:
    paths = [
        write(tmp_path / f"{name}{suffix}", f"{name} 1\n{name} 2\n".encode()) for name in ("s", "d", "t")
    ]
    (pairs,) = corpora([paths[0], paths[2]])
    assert list(pairs.records(Sieve())) == [Record(1, "s 1", "t 1"), Record(2, "s 2", "t 2")]
    assert pairs.bytes_read == pairs.bytes_total
    (triples,) = corpora(paths, draft=True)
    assert list(triples.records(Sieve())) == [Record(1, "s 1", "t 1", "d 1"), Record(2, "s 2", "t 2", "d 2")]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_tables(tmp_path: Path, suffix: str) -> None:
    tsv = write(tmp_path / f"a.tsv{suffix}", b"s\tt\nu\tv\n")
    three = write(tmp_path / f"b.tsv{suffix}", b"s\td\tt\n")
    objects = [
        {"source": "s", "target": "line\nbreak", "more": 1},
        {"target": "v", "source": "u", "draft": None},
    ]
    jsonl = write(tmp_path / f"c.jsonl{suffix}", "\n".join(map(json.dumps, objects)).encode())
    with_draft = write(tmp_path / f"d.jsonl{suffix}", b'{"source": "s", "draft": "", "target": "t"}')
    found = [list(one.records(Sieve())) for one in corpora([tsv, three, jsonl, with_draft])]
    assert found == [
        [Record(1, "s", "t"), Record(2, "u", "v")],
        [Record(1, "s", "t", "d")],
        [Record(1, "s", "line\nbreak"), Record(2, "u", "v")],
        [Record(1, "s", "t", "")],
    ]


@pytest.mark.parametrize(
    ("name", "row", "problem"),
    [
        ("a.tsv", b"only one", "1 columns where 2 are expected"),
        ("a.tsv", b"a\tb\tc", "3 columns where 2 are expected"),
        ("a.jsonl", b"{", "not JSON"),
        ("a.jsonl", b"[]", "not a JSON object"),
        pytest.param("a.jsonl", b"[" * 9_000, "not JSON", id="deep"),
        ("a.jsonl", b'{"source": "a"}', "'target' is missing"),
        ("a.jsonl", b'{"source": "a", "target": 3}', "'target' is missing or not a text"),
        ("a.jsonl", b'{"source": "a", "target": "\\ud800"}', "lone surrogate"),
        ("a.jsonl", b'{"source": "a", "target": "b", "draft": "c"}', "a draft, which the first line has not"),
        ("a.tsv", b"caf\xe9\tb", "not UTF-8"),
    ],
)
def test_broken_rows(tmp_path: Path, name: str, row: bytes, problem: str) -> None:
    good = b"s\tt" if name.endswith("tsv") else b'{"source": "s", "target": "t"}'
    path = write(tmp_path / name, b"\n".join([good, row, good]))
    (corpus,) = corpora([path])
    with pytest.raises(InputError, match=f"{name}, line 2: .*{problem}"):
        list(corpus.records(Sieve()))
    skipped: Counter[str] = Counter()
    assert [record.line for record in corpus.records(Sieve(broken="skip"), skipped)] == [1, 3]
    assert skipped == {"broken": 1}


def test_bad_utf8_names_file_and_line(tmp_path: Path) -> None:
    source = write(tmp_path / "s", b"a\nb\n")
    target = write(tmp_path / "t", b"a\nb\xff\n")
    with pytest.raises(InputError, match=r"t, line 2: not UTF-8 .*at byte 1"):
        list(Corpus([source, target], layout="parallel").records(Sieve()))


def test_empty_and_long_lines(tmp_path: Path) -> None:
    source = write(tmp_path / "s", b"a\n \nc\nd\n" + b"x" * 99 + b"\n")
    target = write(tmp_path / "t", b"a\nb\n\nd\ne\n")
    corpus = Corpus([source, target], layout="parallel")
    skipped: Counter[str] = Counter()
    found = list(corpus.records(Sieve(max_bytes=20), skipped))
    assert [record.line for record in found] == [1, 4]
    assert skipped == {"empty source": 1, "empty target": 1, "too long": 1}
    kept = list(corpus.records(Sieve(empty="keep")))
    assert [record.line for record in kept] == [1, 2, 3, 4, 5]
    with pytest.raises(InputError, match="s, line 2: empty source"):
        list(corpus.records(Sieve(empty="error")))
    with pytest.raises(InputError, match="s, line 5: longer than 20 bytes"):
        list(corpus.records(Sieve(max_bytes=20, long="error")))


@pytest.mark.parametrize(("source", "target"), [(b"a\nb\n", b"a\n"), (b"a\n", b"a\nb\nc"), (b"", b"a\n")])
def test_unequal_line_counts(tmp_path: Path, source: bytes, target: bytes) -> None:
    paths = [write(tmp_path / "s", source), write(tmp_path / "t", target)]
    counts = [len(data.splitlines()) for data in (source, target)]
    with pytest.raises(InputError, match=f"s has {counts[0]}, .*t has {counts[1]}"):
        list(Corpus(paths, layout="parallel").records(Sieve()))


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="pipes have no names here")
def test_unequal_line_counts_of_pipes() -> None:
    readers = []
    for data in (b"a\nb\nc\n", b"a\n"):
        reader, writer = os.pipe()
        os.write(writer, data)
        os.close(writer)
        readers.append(reader)
    try:
        paths = [Path(f"/dev/fd/{reader}") for reader in readers]
        with pytest.raises(InputError, match=f"/dev/fd/{readers[0]} has 3, /dev/fd/{readers[1]} has 1"):
            list(Corpus(paths, layout="parallel").records(Sieve()))
    finally:
        for reader in readers:
            os.close(reader)


def test_missing_files_and_odd_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "train.en", b"a\n")
    with pytest.raises(InputError, match=r"train\.en\.gz does not exist\nhint: did you mean .*train\.en\?"):
        corpora([tmp_path / "train.en.gz"])
    with pytest.raises(InputError, match="there is no folder"):
        corpora([tmp_path / "nowhere" / "x"])
    with pytest.raises(InputError, match="folders of parallel files come in 2s"):
        corpora([tmp_path])
    with pytest.raises(InputError, match="1 of 2 parallel files\nhint: give SOURCE TARGET"):
        corpora([path])
    with pytest.raises(InputError, match="2 of 3 parallel files\nhint: give SOURCE DRAFT TARGET"):
        corpora([path, path], draft=True)
    with pytest.raises(ConfigError, match="max_bytes must be positive"):
        Sieve(max_bytes=0)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_damaged_archives(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"a{suffix}", b"some text\n" * 1000)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"plain text\n", whole[:40] + b"\0\0\0\0" + whole[44:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="damaged or not packed"):
            texts(path)
