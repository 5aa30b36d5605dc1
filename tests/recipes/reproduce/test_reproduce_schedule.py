"""Which step comes next, and how long it all takes, without doing any."""

from pathlib import Path

import pytest
from counted_steps import step

from levt.recipes.reproduce.framework.schedule import (
    BESIDE,
    CROWD,
    KEPT,
    TRUST,
    Pace,
    forecast,
    heights,
    next_step,
    overdue,
    tails,
)


def test_which_step_comes_next(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    short, long = step(diary, "short", seconds=1.0), step(diary, "long", seconds=5.0)
    timed = step(diary, "timed", alone=True)
    behind = step(diary, "behind", {"x": short})
    waiting = [timed, short, long, behind]
    assert next_step(waiting, [], 1, 99.0) is timed
    assert next_step(waiting, [], 2, 99.0) is long
    assert next_step(waiting, [], 2, 2.0) is short
    assert next_step([timed, behind], [short], 2, 99.0) is None
    assert next_step([timed], [], 2, 99.0) is timed
    assert next_step([long], [timed], 2, 99.0) is None
    assert next_step([long], [short, timed], 2, 99.0) is None
    # What does not fit must not keep out what runs alone.
    assert next_step([long, timed], [], 2, 2.0) is timed


def test_what_reads_files_comes_before_hours_of_other_work(tmp_path: Path) -> None:
    """Files that are not aligned are refused by the step that prepares them: not after other tasks were trained."""
    diary, file = tmp_path / "diary", tmp_path / "file"
    file.write_text("one")
    training = step(diary, "training", seconds=9.0)
    corpus = step(diary, "corpus", {"file": file})
    assert next_step([training, corpus], [], 1, 99.0) is corpus
    assert forecast([training, corpus], 1).spans[corpus.digest].begin == 0.0


def test_light_steps_take_no_place_of_others(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    heavy = [step(diary, f"heavy{i}", seconds=9.0) for i in range(3)]
    light = [step(diary, f"light{i}", light=True) for i in range(3)]
    assert next_step([heavy[2], light[0]], heavy[:2], 2, 99.0) is light[0]
    assert next_step([heavy[2], light[2]], [*heavy[:2], *light[:2]], 2, 99.0) is None
    assert next_step([heavy[2], light[2]], [heavy[0], *light[:2]], 2, 99.0) is heavy[2]


def test_the_step_that_most_wait_for_comes_first(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    teacher, other = step(diary, "teacher", seconds=2.0), step(diary, "other", seconds=5.0)
    student = step(diary, "student", {"x": teacher}, seconds=4.0)
    waiting = [other, teacher, student]
    behind = heights(waiting)
    assert behind == {teacher.digest: 6.0, student.digest: 4.0, other.digest: 5.0}
    assert next_step(waiting, [], 2, 99.0) is other
    assert next_step(waiting, [], 2, 99.0, behind=behind) is teacher


def test_time_is_kept_for_what_runs_alone(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    long, timed = step(diary, "long", seconds=5.0), step(diary, "timed", seconds=4.0, alone=True)
    assert next_step([long, timed], [], 2, 5.0 + KEPT * 4.0) is long
    assert next_step([long, timed], [], 2, 4.9 + KEPT * 4.0) is timed


def test_a_training_fits_where_its_model_can_also_be_decoded(tmp_path: Path) -> None:
    """Too large to keep, a model that nobody decodes before the time is over was trained in vain."""
    diary = tmp_path / "diary"
    other = step(diary, "other", seconds=1.0)
    model = step(diary, "model", seconds=5.0)
    tuned = step(diary, "tuned", {"x": model}, seconds=2.0, light=True)
    decoded = step(diary, "decoded", {"x": model, "y": tuned}, seconds=1.0, light=True)
    page = step(diary, "page", {"x": decoded, "y": other}, seconds=9.0, light=True)
    waiting = [other, model, tuned, decoded, page]
    tail = tails(waiting)
    # The page waits for others, too: the model has been of use without it.
    assert tail == {
        other.digest: 0.0,
        model.digest: 3.0,
        tuned.digest: 0.0,
        decoded.digest: 0.0,
        page.digest: 0.0,
    }
    enough = 5.0 + BESIDE * 3.0
    assert next_step([model, tuned, decoded], [], 2, enough, tail=tail) is model
    assert next_step([model, tuned, decoded], [], 2, enough - 0.1, tail=tail) is None
    assert next_step([model, tuned, decoded], [], 2, 1.5 * enough, tail=tail, pace=1.6) is None
    # One after the other nothing is beside it.
    assert next_step([model, tuned, decoded], [], 1, 8.0, tail=tail) is model
    assert next_step([model, tuned, decoded], [], 1, 7.9, tail=tail) is None


def test_what_leads_to_times_comes_first_and_finds_a_place(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    teacher = step(diary, "teacher", seconds=1.0)
    students = [step(diary, f"student{i}", {"x": teacher}, seconds=1.0) for i in range(3)]
    timed = step(diary, "timed", {one.label: one for one in students}, alone=True)
    others = [step(diary, f"other{i}", seconds=9.0) for i in range(5)]
    waiting = [*others, teacher, *students, timed]
    behind = heights(waiting)
    assert next_step(waiting, [], 5, 99.0, behind=behind) is teacher
    waiting.remove(teacher)
    # Three students will be wanting places, and the others would hold them for long: one may begin, no more.
    assert next_step(waiting, [teacher], 5, 99.0, behind=behind) is others[0]
    assert next_step(waiting[1:], [teacher, others[0]], 5, 99.0, behind=behind) is None
    # When they can begin they do, and then nothing is kept.
    assert next_step(waiting[1:], [others[0]], 5, 99.0, behind=behind) is students[0]
    rest = [*others[1:], timed]
    assert next_step(rest, [others[0], *students], 5, 99.0, behind=behind) is others[1]


def test_what_can_go_on_later_makes_way_for_times(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    model = step(diary, "model", resumes=True)
    timed, light = (
        step(diary, "timed", {"x": model}, seconds=4.0, alone=True),
        step(diary, "light", light=True),
    )
    training = step(diary, "training", resumes=True, seconds=50.0)
    assert overdue([timed], [training, light], KEPT * 4.0) == [training]
    assert overdue([timed], [training, light], KEPT * 4.0 + 0.1) == []
    # Not where the times cannot be taken: what is timed is not there yet, or never will be, or it is too late.
    assert overdue([timed], [training, model], 4.0) == []
    assert overdue([timed], [training], 4.0, failed=[model]) == []
    assert overdue([timed], [training], 3.9) == []
    assert overdue([], [training], 1.0) == []


def test_the_pace_is_that_of_what_was_done(tmp_path: Path) -> None:
    diary, pace = tmp_path / "diary", Pace()
    a, b = step(diary, "a", seconds=100.0), step(diary, "b", seconds=100.0)
    light = step(diary, "light", light=True)
    pace.tick([a, b, light], 100 * (1 + CROWD))
    pace.finished(a)
    pace.finished(light)
    assert pace.factor == pytest.approx(1.0)
    pace.tick([b], 100.0)
    pace.finished(b)
    assert pace.factor == pytest.approx((TRUST + 300) / (TRUST + 200))
    pace.tick([a], 1.0)
    pace.finished(a)
    assert pace.factor == pytest.approx((TRUST + 301) / (TRUST + 300))
    for _ in range(3):
        pace.tick([a], 1.0)
        pace.finished(a)
    assert pace.factor == 1.0


def test_a_forecast_follows_the_schedule(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    teacher = step(diary, "teacher", seconds=10.0)
    student = step(diary, "student", {"x": teacher}, seconds=10.0)
    other = step(diary, "other", seconds=10.0)
    decoded = step(diary, "decoded", {"x": student}, seconds=3.0, light=True)
    timed = step(diary, "timed", {"x": student}, seconds=4.0, alone=True)
    steps = [teacher, student, other, decoded, timed]
    both = 10 * (1 + CROWD)
    found = forecast(steps, 2)
    assert found.left == []
    # Teacher and other side by side, the student by itself, its decoding and then the times.
    assert found.spans[other.digest] == pytest.approx((0.0, both))
    assert found.spans[student.digest] == pytest.approx((both, both + 10))
    assert found.spans[timed.digest] == pytest.approx((both + 13, both + 17))
    assert found.seconds == pytest.approx(both + 17)
    slow = forecast(steps, 2, pace=2.0)
    assert slow.seconds == pytest.approx(2 * (both + 13) + 4)
    assert forecast(steps, 1).seconds == pytest.approx(37.0)
    # Time is kept for what runs alone, and what does not fit is left with all that is behind it.
    short = forecast(steps, 2, minutes=(both + 9) / 60)
    assert [one.label for one in short.left] == ["student", "decoded", "timed"]
    assert forecast([], 2).seconds == 0.0


def test_what_is_asked_for_first_comes_before_longer_ways(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    teacher, again = step(diary, "teacher", seconds=1.0), step(diary, "again", seconds=50.0)
    student = step(diary, "student", {"x": teacher}, seconds=2.0)
    timed = step(diary, "timed", {"x": (model := step(diary, "model", seconds=1.0))}, alone=True)
    waiting = [again, teacher, student, model, timed]
    rest = [again, teacher, student, timed]
    assert next_step(rest, [model], 3, 999.0, behind=heights(waiting)) is again
    behind = heights(waiting, {student.digest})
    assert next_step(waiting, [], 3, 999.0, behind=behind) is model
    assert next_step(rest, [model], 3, 999.0, behind=behind) is teacher
    waiting = [again, student]
    found = forecast(waiting, 2, first={student.digest}, minutes=51 / 60)
    assert [one.label for one in found.left] == ["again"]
    assert [one.label for one in forecast(waiting, 2, minutes=51 / 60).left] == []
