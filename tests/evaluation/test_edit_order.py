"""The order of edits: a person's actions replayed, a trace read, both compared."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from levt.edits.iteration import Iteration
from levt.edits.script import EditScript
from levt.edits.trace import Trace
from levt.errors import InputError
from levt.evaluation.edit_order import Place, agreement, kendall, left_to_right, trace_times
from levt.evaluation.keystrokes import Action, parse_actions, read_actions, replay


def word(at: int) -> Place:
    return Place("word", at)


def gap(at: int) -> Place:
    return Place("gap", at)


def test_replaying_tracks_places_in_the_draft() -> None:
    # "er geht Haus": geht → läuft, nach before Haus, then something at the end, and nach again, gone.
    actions = parse_actions("D:1:geht\tI:1:läuft\tI:2:nach\tI:4:.\tD:2:nach\tS:0:None")
    text, times = replay(["er", "geht", "Haus"], actions)
    assert text == ["er", "läuft", "Haus", "."]
    assert times == {word(1): 0.0, gap(2): 1.0, gap(3): 3.0}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("D:1:geht", "must end with S"),
        ("X:1:geht\tS:0:None", "must be D:POSITION:WORD"),
        ("D:-1:geht\tS:0:None", "must be D:POSITION:WORD"),
        ("I:1\tS:0:None", "must be D:POSITION:WORD"),
        ("", "must end with S"),
    ],
)
def test_lines_that_are_no_actions(line: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "acts").write_text(f"S:0:None\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"line 2: .*{problem}"):
        read_actions(tmp_path / "acts")


def test_actions_that_do_not_fit_the_draft() -> None:
    with pytest.raises(InputError, match="action 1 deletes 'x' at 0"):
        replay(["a"], [Action("delete", 0, "x")])
    with pytest.raises(InputError, match="action 1 deletes"):
        replay(["a"], [Action("delete", 1, "a")])
    with pytest.raises(InputError, match="inserts at 2 of 1 words"):
        replay(["a"], [Action("insert", 2, "x")])


def test_a_trace_in_phases_and_by_probability() -> None:
    # ▁er ▁geh t ▁Haus: "t" goes and "▁nach" comes before ▁Haus; then a point at the end joins "Haus".
    pieces = ("▁er", "▁geh", "t", "▁Haus")
    first = Iteration(
        script=EditScript(drop=(False, False, True, False), counts=(0, 0, 2, 0), fill=(10, 11)),
        pieces=("st", "▁nach"),
        drop_probs=(0.9, 0.9, 0.6, 0.9),
        counts_probs=(0.9, 0.9, 0.9, 0.9),
        fill_probs=(0.5, 0.8),
    )
    second = Iteration(
        script=EditScript(drop=(False,) * 5, counts=(1, 0, 0, 0, 0, 1), fill=(12, 13)),
        pieces=("▁heute", "▁!"),
    )
    trace = Trace(draft=(5, 6, 7, 8), draft_pieces=pieces, iterations=(first, second))
    assert trace.text == "heute er gehst nach Haus !"
    # "st" continues "geh": the word was touched already when "t" was deleted.
    assert trace_times(trace) == {word(1): 0.0, gap(2): 1.0, gap(0): 3.0, gap(3): 3.0}
    surer = trace_times(trace, by="probability")
    assert sorted(surer, key=surer.__getitem__) == [word(1), gap(2), gap(0), gap(3)]
    assert len(set(surer.values())) == 4


def test_a_piece_put_inside_a_word_changes_the_word() -> None:
    script = EditScript(drop=(False, False), counts=(0, 1, 0), fill=(9,))
    trace = Trace(
        draft=(5, 6), draft_pieces=("▁Ha", "s"), iterations=(Iteration(script=script, pieces=("u",)),)
    )
    assert trace.text == "Haus"
    assert trace_times(trace) == {word(0): 1.0}


def test_spaces_that_are_part_of_no_word_are_no_places_of_words() -> None:
    """The places are those of a person who replays the same draft: words are counted as there."""
    pieces = ("▁er", "▁", "▁geht", "<0xC2>", "<0xA0>", "heim", "▁")
    script = EditScript(
        drop=(False, True, False, False, False, True, False), counts=(0, 0, 0, 0, 1, 0), fill=(12,)
    )
    trace = Trace(
        draft=tuple(range(5, 12)), draft_pieces=pieces, iterations=(Iteration(script=script, pieces=("▁!",)),)
    )
    _, times = replay(["er", "geht", "heim"], parse_actions("D:2:heim\tI:2:!\tS:0:None"))
    assert set(times) == {word(2), gap(3)}
    # The second space goes as well, which is a place in a gap.
    assert trace_times(trace) == {gap(1): 0.0, word(2): 0.0, gap(3): 1.0}


orders = st.dictionaries(st.integers(0, 6), st.integers(0, 4), max_size=7)


@given(orders, orders)
def test_kendall_is_symmetric_bounded_and_turns_with_the_order(
    one: dict[int, int], other: dict[int, int]
) -> None:
    a = {word(k): float(v) for k, v in one.items()}
    b = {word(k): float(v) for k, v in other.items()}
    tau = kendall(a, b)
    assert tau == kendall(b, a)
    if tau is None:
        return
    assert -1 - 1e-9 <= tau <= 1 + 1e-9
    turned = kendall({place: -time for place, time in a.items()}, b)
    assert turned == pytest.approx(-tau)
    assert kendall(a, a) == pytest.approx(1.0)


def test_agreement_over_a_corpus() -> None:
    left = {word(0): 0.0, word(1): 1.0, gap(3): 2.0}
    back = {word(0): 2.0, word(1): 1.0, gap(3): 0.0}
    same = agreement([left, left], [left, back])
    assert (same.sentences, same.pairs, same.same, same.tau, same.shared) == (2, 6, 0.5, 0.0, 1.0)
    assert agreement([left], [left_to_right(left)]).tau == 1.0
    at_once = dict.fromkeys(left, 0.0)
    assert agreement([left], [at_once]).sentences == 0
    apart = agreement([{word(0): 0.0}], [{word(1): 0.0}])
    assert (apart.shared, apart.pairs, apart.same) == (0.0, 0, 0.0)
    with pytest.raises(InputError, match="as many orders"):
        agreement([left], [])
