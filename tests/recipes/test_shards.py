"""Pieces of work: each is done once, by one process at a time, and half a piece does not count."""

import json
import os
import socket
from pathlib import Path

import pytest

from levt.errors import StoreError
from levt.recipes.shards import Shards, held, shared, write_whole

WORK = {"what": "test"}


def shards(folder: Path, count: int = 10, size: int = 4) -> Shards:
    return Shards(folder, count=count, size=size, identity=WORK)


def test_pieces_cover_every_example_once(tmp_path: Path) -> None:
    for count, size in ((10, 4), (8, 4), (1, 4), (0, 4)):
        work = shards(tmp_path / f"{count}", count, size)
        assert [i for piece in range(work.number) for i in work.rows(piece)] == list(range(count))
    assert list(shards(tmp_path / "0", 0).claimed()) == []


def test_all_are_claimed_in_order_and_only_the_unfinished(tmp_path: Path) -> None:
    work = shards(tmp_path)
    work.write(1, ["done before"])
    assert work.done == 4
    seen = []
    for piece in work.claimed():
        seen.append(piece)
        work.write(piece, {"piece": piece})
    assert seen == [0, 2]
    assert work.done == 10
    assert [work.read(piece) for piece in range(3)] == [{"piece": 0}, ["done before"], {"piece": 2}]


def test_no_piece_is_held_twice(tmp_path: Path) -> None:
    one, two = shards(tmp_path).claimed(), shards(tmp_path).claimed()
    assert (next(one), next(two)) == (0, 1)
    assert next(one) == 2  # 0 was given up unfinished; 1 is held
    one.close()
    two.close()
    assert next(shards(tmp_path).claimed()) == 0


def test_a_piece_whose_worker_died_is_taken_over(tmp_path: Path) -> None:
    dying, other = shards(tmp_path, 4).claimed(), shards(tmp_path, 4)
    next(dying)
    dying.close()  # the system does this to a killed process
    for piece in other.claimed():
        other.write(piece, "x")
    assert other.finished(0)


def test_half_a_piece_does_not_count(tmp_path: Path) -> None:
    work = shards(tmp_path)
    (tmp_path / ".00000.json.4711").write_text('{"targets": [[1', encoding="utf-8")
    assert not work.finished(0)
    assert next(work.claimed()) == 0


def test_damage_is_named(tmp_path: Path) -> None:
    work = shards(tmp_path)
    (tmp_path / "00002.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match=r"00002.json is damaged") as caught:
        work.read(2)
    assert "remove it and run the command again" in str(caught.value)


def test_a_damaged_identity_is_named(tmp_path: Path) -> None:
    shards(tmp_path)
    (tmp_path / "identity.json").write_text('{"what"', encoding="utf-8")
    with pytest.raises(StoreError, match=r"identity.json is damaged"):
        shards(tmp_path)


def test_other_work_is_refused(tmp_path: Path) -> None:
    shards(tmp_path)
    for other in ({"count": 11, "size": 4}, {"count": 10, "size": 5}):
        with pytest.raises(StoreError, match="the beginning of other work"):
            Shards(tmp_path, **other, identity=WORK)
    with pytest.raises(StoreError, match="the beginning of other work"):
        Shards(tmp_path, count=10, size=4, identity={"what": "else"})


def test_a_lock_is_waited_for_or_not(tmp_path: Path) -> None:
    with held(tmp_path / "x.lock") as mine:
        assert mine
        with held(tmp_path / "x.lock") as also:
            assert not also
    with held(tmp_path / "x.lock", wait=True) as mine:
        assert mine


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    write_whole(tmp_path / "x.json", [1])
    with pytest.raises(TypeError):
        write_whole(tmp_path / "x.json", [{1, 2}])
    assert json.loads((tmp_path / "x.json").read_text("utf-8")) == [1]
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_the_last_to_leave_removes_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    with shared(folder):
        with shared(folder):
            (folder / "x").touch()
        assert (folder / "x").exists()
    assert not folder.exists()


def test_a_folder_where_something_went_wrong_stays(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), shared(tmp_path / "work"):
        (tmp_path / "work" / "absent").read_bytes()
    assert (tmp_path / "work").exists()


def test_a_refusal_costs_no_finished_piece(tmp_path: Path) -> None:
    folder = tmp_path / "work"

    def refused(*finished: int) -> None:
        with shared(folder):
            work = shards(folder)
            for piece in finished:
                work.write(piece, [1])
            raise StoreError("refused")

    with pytest.raises(StoreError, match="refused"):
        refused()
    assert not folder.exists()
    with pytest.raises(StoreError, match="refused"):
        refused(0)
    assert shards(folder).finished(0)


def test_two_machines_may_write_one_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In containers processes have the same number: what another one writes meanwhile is another file."""
    path, sync = tmp_path / "note.json", os.fsync

    def meanwhile(descriptor: int) -> None:
        sync(descriptor)
        monkeypatch.setattr(os, "fsync", sync)
        monkeypatch.setattr(socket, "gethostname", lambda: "the other")
        write_whole(path, "theirs")
        assert json.loads(path.read_text("utf-8")) == "theirs"

    monkeypatch.setattr(os, "fsync", meanwhile)
    monkeypatch.setattr(socket, "gethostname", lambda: "this one")
    write_whole(path, "ours")
    assert json.loads(path.read_text("utf-8")) == "ours"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
