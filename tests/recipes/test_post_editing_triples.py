"""Triples as files and lists; what overlaps goes, what people did is found again."""

from pathlib import Path

import pytest

from levt.errors import InputError
from levt.evaluation.edit_order import Place
from levt.recipes.post_editing_triples import Triples, files, of_rows, read, watched

ROWS = [
    ("The dog sleeps .", "der Hund schlaft .", "der Hund schläft ."),
    ("A cat .", "ein Katze .", "eine Katze ."),
]


def test_written_is_read(tmp_path: Path) -> None:
    triples = of_rows(ROWS)
    triples.write(files(tmp_path, "train"))
    assert read(files(tmp_path, "train")) == triples
    assert triples.rows() == ROWS
    assert len(of_rows([])) == 0
    with pytest.raises(InputError, match="2 sources, 1 drafts, 2 targets"):
        Triples(["a", "b"], ["a"], ["a", "b"])


def test_sources_of_other_sets_are_left_out() -> None:
    """Sets differ in the capitals of beginnings: the same sentence is the same."""
    triples = of_rows(ROWS)
    assert triples.without(["the dog  sleeps .", "something else"]).rows() == ROWS[1:]
    assert triples.without([]) == triples
    assert triples.first(1).rows() == ROWS[:1]


def test_recordings_are_found_by_source_and_draft(tmp_path: Path) -> None:
    recorded = of_rows(
        [
            ("a cat .", "Ein Katze .", "Eine Katze ."),  # the same but for capitals
            ("The dog sleeps .", "der Hund schlaft .", "der Hund schläft ."),  # does not fit its draft
            ("Nobody .", "niemand .", "niemand ."),  # nothing was edited
        ]
    )
    recorded.write(files(tmp_path, "train"))
    actions = ["D:0:Ein\tI:0:Eine\tS:0:None", "D:1:Katze\tS:0:None", "S:0:None"]
    (tmp_path / "actions").write_text("\n".join(actions) + "\n", encoding="utf-8")
    found = watched(
        of_rows([*ROWS, ("Nobody .", "niemand .", "niemand .")]),
        files(tmp_path, "train"),
        tmp_path / "actions",
    )
    assert found.triples.rows() == ROWS[1:]
    (tmp_path / "actions").write_text("S:0:None\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"actions must have one line for each line of .*src, 3, got 1"):
        watched(of_rows(ROWS), files(tmp_path, "train"), tmp_path / "actions")
    # A word that is replaced is deleted first, then something is inserted in front of what follows it.
    assert found.times == [{Place("word", 0): 0.0, Place("gap", 1): 1.0}]
