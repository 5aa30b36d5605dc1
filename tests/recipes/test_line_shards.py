"""Sharded text: one answer per line, in order, by whoever and however often; plans and formats."""

import gzip
import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import levt
from levt.cli import main
from levt.data.one_line import one_line
from levt.data.terms import terms_of
from levt.errors import ConfigError, InputError, StoreError
from levt.recipes.answering import Answering
from levt.recipes.line_shards import Answered, LineShards, answer_shards
from levt.recipes.shard_formats.text import stretches
from levt.recipes.shard_plan import files_of, plan
from levt.recipes.workers import Doing, Local, Work
from tiny_models import LINES, save_tiny


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("models") / "levt", seed=3))


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """Three shards: one that is cut, one with an odd end and no newline, an empty one."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(LINES[:12]) + "\n", encoding="utf-8")
    (folder / "b.txt").write_bytes("\ufeffA dog.\r\n\nTwo\u2028cats".encode())
    (folder / "c.txt").touch()
    (folder / "_SUCCESS").touch()
    (folder / ".hidden").touch()
    return folder


def lines(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    assert text == "" or text.endswith("\n")
    return text.split("\n")[:-1]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def run(model: str, source: Path, out: Path, *, size: int = 5, **more: Any) -> Answered:
    asked = Answering(verb="translate", model=model, batch_size=4)
    return answer_shards(asked, plan([str(source)], lines=size), out, runner=Local(device="cpu"), **more)


def test_one_line_for_each_line(shards: Path, model: str, tmp_path: Path) -> None:
    found = run(model, shards, tmp_path / "out")
    assert found == Answered(lines=15, shards=5, before=0, damaged=0)
    names = ["a-00000.txt", "a-00001.txt", "a-00002.txt", "b.txt", "c.txt"]
    assert sorted(path.name for path in (tmp_path / "out").glob("*.txt")) == names
    together = [line for name in names for line in lines(tmp_path / "out" / name)]
    loaded = levt.load(model, device="cpu")
    texts = [*LINES[:12], "A dog.", "", "Two\u2028cats"]
    assert together == [one_line(result.text) for result in loaded.translate(texts)]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert manifest["lines"] == 15
    assert [shard["name"] for shard in manifest["shards"]] == names
    for shard in manifest["shards"]:
        data = (tmp_path / "out" / shard["name"]).read_bytes()
        assert (shard["bytes"], shard["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    # What came out can go in again.
    assert [path.name for path in files_of([str(tmp_path / "out")])] == names


class Dying:
    """Does some pieces, then dies in the middle of one."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, work: Work, progress: Callable[[int, int], None]) -> None:
        do: Doing = work.open("cpu")
        pieces = work.pieces
        assert isinstance(pieces, LineShards)
        for piece in pieces.left[: self.after]:
            do(piece)
        (pieces.folder / ".b.txt.host.1").write_bytes(b"half a")
        raise KeyboardInterrupt


def test_it_goes_on_and_finished_shards_are_not_redone(shards: Path, model: str, tmp_path: Path) -> None:
    run(model, shards, tmp_path / "whole")
    out = tmp_path / "out"
    asked, pieces = Answering(verb="translate", model=model, batch_size=4), plan([str(shards)], lines=5)
    with pytest.raises(KeyboardInterrupt):
        answer_shards(asked, pieces, out, runner=Dying(after=2))
    assert not (out / "manifest.json").exists()
    times = {path.name: path.stat().st_mtime_ns for path in out.glob("*.txt")}
    assert set(times) == {"a-00000.txt", "a-00001.txt"}
    told: list[tuple[int, int]] = []
    found = run(model, shards, out, progress=lambda *now: told.append(now))
    assert found.before == 10
    assert told[0] == (10, 15)
    assert told[-1] == (15, 15)
    assert {name: (out / name).stat().st_mtime_ns for name in times} == times
    assert contents(out) == contents(tmp_path / "whole")
    assert not list((out / ".levt").glob(".*"))


def test_damaged_shards_are_made_again(shards: Path, model: str, tmp_path: Path) -> None:
    run(model, shards, tmp_path / "out")
    good = contents(tmp_path / "out")
    rng = random.Random(0)
    broken = bytearray(good["a-00001.txt"])
    broken[rng.randrange(len(broken))] ^= 1
    (tmp_path / "out" / "a-00001.txt").write_bytes(broken)
    (tmp_path / "out" / "b.txt").write_bytes(good["b.txt"][:-3])
    (tmp_path / "out" / "c.txt").unlink()
    (tmp_path / "out" / ".levt" / "a-00000.txt.json").write_text("{", encoding="utf-8")
    found = run(model, shards, tmp_path / "out")
    assert (found.before, found.damaged) == (2, 3)
    assert contents(tmp_path / "out") == good


def test_a_mark_and_nothing_else_is_an_empty_line(model: str, tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_bytes("\ufeff".encode())
    assert run(model, source, tmp_path / "out").lines == 1
    assert lines(tmp_path / "out" / "a.txt") == [""]


def test_damaged_archives_are_named(tmp_path: Path) -> None:
    data = gzip.compress("".join(f"line {i} of {i * i}\n" for i in range(5000)).encode())
    path = tmp_path / "a.txt.gz"
    for at in range(20, 60):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        with pytest.raises(InputError, match=r"a\.txt\.gz cannot be read"):
            plan([str(path)], lines=100)


def test_other_keys_stay_whatever_they_hold(model: str, tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"source": "A dog.", "id": "\\ud800"}\n', encoding="utf-8")
    run(model, source, tmp_path / "out")
    [line] = lines(tmp_path / "out" / "a.jsonl")
    assert json.loads(line)["id"] == "\ud800"


def test_a_draft_that_is_null_is_none(model: str, tmp_path: Path) -> None:
    source, known = tmp_path / "a.jsonl", {"source": "A dog.", "draft": None, "terms": None}
    source.write_text(json.dumps(known) + "\n", encoding="utf-8")
    run(model, source, tmp_path / "out")
    [line] = lines(tmp_path / "out" / "a.jsonl")
    expected = levt.load(model, device="cpu").translate("A dog.").text
    assert json.loads(line) == {**known, "target": expected}


def test_other_work_is_refused(shards: Path, model: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(model, shards, out)
    pieces = plan([str(shards)], lines=5)
    for other, named in (
        (Answering(verb="translate", model=model, drop=("x",)), "drop"),
        (Answering(verb="translate", model=model, settings={"max_iterations": 2}), "max_iterations"),
        (Answering(verb="refine", model=model), "verb"),
    ):
        with pytest.raises(StoreError, match=f"was begun with another {named}"):
            answer_shards(other, pieces, out)
    (shards / "b.txt").write_text("changed\n", encoding="utf-8")
    with pytest.raises(StoreError, match="was begun with another input"):
        run(model, shards, out)
    with pytest.raises(StoreError, match="is not empty"):
        run(model, shards, shards)
    assert not (shards / ".levt").exists(), "what is refused is left as it was"


def test_a_line_that_is_of_no_use_is_named(model: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"A dog.\n" * 7 + b"\xff\n")
    with pytest.raises(InputError, match=r"a.txt, line 8: it is not UTF-8"):
        run(model, path, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").glob("*.txt")] == ["a-00000.txt"]
    # Or it has an empty answer; what was finished stays.
    found = run(model, path, tmp_path / "out", skip_broken=True)
    assert (found.before, found.broken) == (5, 1)
    good = one_line(levt.load(model, device="cpu").translate("A dog.").text)
    assert lines(tmp_path / "out" / "a-00001.txt") == [good, good, ""]
    table = tmp_path / "b.jsonl"
    table.write_text('{"source": "A dog.", "problem": 5}\n{"text": 1}\n', encoding="utf-8")
    assert run(model, table, tmp_path / "out2", skip_broken=True).broken == 1
    rows = [json.loads(line) for line in lines(tmp_path / "out2" / "b.jsonl")]
    assert rows[0]["problem"] == 5
    assert rows[1] == {"problem": "it has no text under the key 'source'", "target": ""}
    deep = "[" * 9_000
    odd = ['"terms": 5', '"terms": ["\\ud800"]', f'"terms": {deep}']
    table.write_text("".join(f'{{"source": "A dog.", {one}}}\n' for one in odd), encoding="utf-8")
    assert run(model, table, tmp_path / "out3", skip_broken=True).broken == 3
    path.write_bytes(b"A dog.\n" * 8)
    with pytest.raises(StoreError, match="another input"):
        run(model, path, tmp_path / "out")


def test_formats(model: str, tmp_path: Path) -> None:
    """JSON lines, Parquet and packed text give what the same lines give; other keys go through."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts, drafts = LINES[:7], [line.upper() for line in LINES[:7]]
    loaded = levt.load(model, device="cpu")
    expected = [result.text for result in loaded.refine(texts, draft=drafts, terms=[["dog"]] * 7)]
    records = [
        {"id": i, "source": text, "draft": draft, "terms": ["dog"]}
        for i, (text, draft) in enumerate(zip(texts, drafts, strict=True))
    ]
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    parquet.write_table(pyarrow.Table.from_pylist(records), folder / "b.parquet", row_group_size=2)
    asked = Answering(verb="refine", model=model)
    pieces = plan([str(folder)], lines=3)
    answer_shards(asked, pieces, tmp_path / "out", json=True, runner=Local(device="cpu"))
    for kind, read in (
        ("jsonl", lambda path: [json.loads(line) for line in lines(path)]),
        ("parquet", lambda path: parquet.read_table(path).to_pylist()),
    ):
        files = sorted((tmp_path / "out").glob(f"*.{kind}"))
        assert len(files) == 3
        found = [row for path in files for row in read(path)]
        assert [row["target"] for row in found] == expected
        assert [row["id"] for row in found] == list(range(7))
        result = found[0]["result"]
        assert (json.loads(result) if kind == "parquet" else result)["text"] == expected[0]
    # The same from files side by side, the sources packed.
    (tmp_path / "s.txt.gz").write_bytes(gzip.compress("\n".join(texts).encode()))
    (tmp_path / "d.txt").write_text("\n".join(drafts), encoding="utf-8")
    (tmp_path / "t.txt").write_text("dog;\n" * 7, encoding="utf-8")
    beside = {"draft": [str(tmp_path / "d.txt")], "terms": [str(tmp_path / "t.txt")]}
    pieces = plan([str(tmp_path / "s.txt.gz")], beside=beside, lines=100)
    answer_shards(asked, pieces, tmp_path / "out2", runner=Local(device="cpu"))
    assert lines(tmp_path / "out2" / "s.txt") == [one_line(text) for text in expected]


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    for name, text in (("a", "x\ny\n"), ("b", "x\n"), ("c", "x\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").touch()
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    with pytest.raises(InputError, match=r"a has 2 lines and .*b has 1"):
        plan([a], beside={"draft": [b]}, lines=5)
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"x\ny\n"))
    for source, draft in ((a, f"{a}.gz"), (f"{a}.gz", a)):
        with pytest.raises(InputError, match=r"a\.gz is packed and \S*/a is not"):
            plan([source], beside={"draft": [draft]}, lines=1)
    with pytest.raises(InputError, match="1 files of sources and 2 of draft"):
        plan([a], beside={"draft": [a, b]}, lines=5)
    with pytest.raises(InputError, match="two shards would be written to a"):
        plan([a, str(tmp_path / "sub")], lines=5)
    with pytest.raises(InputError, match="there is no file in"):
        plan([str(tmp_path / "*.txt")], lines=5)
    with pytest.raises(InputError, match="does not exist"):
        plan([str(tmp_path / "absent")], lines=5)
    with pytest.raises(InputError, match="is no plain file"):
        plan(["/dev/null"], lines=5)
    with pytest.raises(InputError, match="the terms must be"):
        terms_of([1])


def test_stretches_cover_every_byte_once(tmp_path: Path) -> None:
    rng = random.Random(0)
    for _ in range(200):
        data = bytes(rng.choice(b"ab\n") for _ in range(rng.randrange(40)))
        size = rng.randint(1, 5)
        (tmp_path / "x").write_bytes(data)
        with (tmp_path / "x").open("rb") as file:
            found = list(stretches(file, size))
        assert [data[start:stop] for start, stop, *_ in found] == [
            b"".join(data.splitlines(keepends=True)[i : i + size])
            for i in range(0, max(1, len(data.splitlines())), size)
        ]
        assert sum(count for _, _, count, _ in found) == len(data.splitlines())


def test_processes_and_the_command_line(
    shards: Path, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two processes write the same bytes as one; mistakes end with a message."""
    run(model, shards, tmp_path / "one")
    out = str(tmp_path / "two")
    command = ["translate", "--model", model, "--device", "cpu", "--input", str(shards), "--output", out]
    main([*command, "--shard-lines", "5", "--processes", "2"])
    assert "two: 15 lines in 5 shards" in capsys.readouterr().err
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    for call, message in (
        (["translate", "--input", str(shards)], "shards need both --input and --output"),
        (["translate", "--engine", "ray"], "work on shards, not on standard input"),
        (["translate", "--processes", "2"], "work on shards, not on standard input"),
        (["refine", "--model", model], "there are no drafts to refine"),
        (["refine", *command[1:-1], str(tmp_path / "new")], "a.txt has no drafts to refine"),
        ([*command, "--shard-lines", "0"], "shard-lines must be at least 1, got 0"),
        ([*command, "--processes", "0"], "processes must be at least 1, got 0"),
        ([*command, "--ray-address", "auto"], "--ray-address is for --engine ray"),
        ([*command, "--engine", "ray:none"], "was begun with another engine"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(call)
        assert stop.value.code == 2
        assert message in capsys.readouterr().err


def test_what_is_refused_before_its_first_shard_binds_nobody(
    shards: Path, model: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    plan_of = plan([str(shards)], lines=3)
    for settings in ({"beam": 3}, {"length_penalty": 2.0}):
        with pytest.raises(ConfigError, match="unknown setting"):
            answer_shards(Answering(verb="translate", model=model, settings=settings), plan_of, out)
        assert not out.exists()
    out.mkdir()
    with pytest.raises(ConfigError, match="unknown setting"):
        answer_shards(Answering(verb="translate", model=model, settings={"beam": 3}), plan_of, out)
    assert list(out.iterdir()) == []
    assert answer_shards(Answering(verb="translate", model=model), plan_of, out).before == 0
