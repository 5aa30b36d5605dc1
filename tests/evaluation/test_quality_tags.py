"""OK/BAD tags from post-edits, risks from traces, and their correlation."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from levt.edits.iteration import Iteration
from levt.edits.script import EditScript
from levt.edits.trace import Trace
from levt.errors import InputError
from levt.evaluation.quality_tags import Risks, Tags, best_threshold, gold_tags, mcc, tag_scores, trace_risks

texts = st.lists(st.sampled_from("abc"), max_size=7).map(" ".join)


@given(texts, texts)
def test_tags_fit_the_draft_and_what_is_good_stays(draft: str, post_edit: str) -> None:
    tags = gold_tags(draft, post_edit)
    words, wanted = draft.split(), post_edit.split()
    assert len(tags.words) == len(words)
    assert len(tags.gaps) == len(words) + 1
    kept = [word for word, bad in zip(words, tags.words, strict=True) if not bad]
    rest = iter(wanted)
    assert all(word in rest for word in kept), "kept words stand in the post-edit in this order"
    if len(words) < len(wanted):
        assert any(tags.gaps), "a draft that is too short misses words somewhere"
    assert (not any(tags.words) and not any(tags.gaps)) == (words == wanted)


def test_replaced_words_leave_their_gaps_alone() -> None:
    assert gold_tags("a b c", "a x c") == Tags(words=(False, True, False), gaps=(False,) * 4)
    assert gold_tags("a c", "a b c").gaps == (False, True, False)
    assert gold_tags("", "a") == Tags(words=(), gaps=(True,))
    assert gold_tags("a b", "b") == Tags(words=(True, False), gaps=(False,) * 3)
    assert gold_tags("a b d", "a x y d").gaps == (False, False, True, False)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_mcc_is_the_correlation_of_indicators(pairs: list[tuple[bool, bool]]) -> None:
    predicted, gold = [p for p, _ in pairs], [g for _, g in pairs]
    found = mcc(predicted, gold)
    assert -1 - 1e-9 <= found <= 1 + 1e-9
    assert mcc(gold, predicted) == pytest.approx(found)
    assert mcc([not p for p in predicted], gold) == pytest.approx(-found)
    tp, tn = sum(p and g for p, g in pairs), sum(not p and not g for p, g in pairs)
    fp, fn = sum(p and not g for p, g in pairs), sum(not p and g for p, g in pairs)
    below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    assert found == pytest.approx((tp * tn - fp * fn) / math.sqrt(below) if below else 0.0)


def test_scores_of_a_corpus() -> None:
    gold = [gold_tags("a b c", "a c"), gold_tags("a c", "a b c")]
    words, gaps = tag_scores(gold, gold)
    assert (words.value, gaps.value) == (100.0, 100.0)
    with pytest.raises(InputError, match="draft 1 has 3 words"):
        tag_scores([gold[1], gold[1]], gold)
    with pytest.raises(InputError):
        tag_scores([], [])


def test_risks_by_word() -> None:
    # Draft: ▁Ein ▁Hun d ▁läuft; "▁läuft" goes, and something is inserted behind "d".
    trace = Trace(
        draft=(5, 6, 7, 8),
        draft_pieces=("▁Ein", "▁Hun", "d", "▁läuft"),
        iterations=(
            Iteration(
                script=EditScript(drop=(False, False, False, True), counts=(0, 0, 0, 1), fill=(9,)),
                pieces=("▁geht",),
                drop_probs=(0.9, 0.8, 0.6, 0.7),
                counts_probs=(1.0, 0.95, 0.5, 0.75),
                fill_probs=(0.5,),
            ),
        ),
    )
    risks = trace_risks(trace)
    # "Hund": the worst of deleting ▁Hun (0.2), deleting d (0.4) and opening the gap between them (0.5).
    assert risks.words == pytest.approx((0.1, 0.5, 0.7))
    # The gap before "läuft" was not open to insertions: it is the one behind it that counts.
    assert risks.gaps == pytest.approx((0.0, 0.05, 0.0, 0.75))
    assert risks.tags() == Tags(words=(False, False, True), gaps=(False, False, False, True))
    assert risks.tags(0.4).words == (False, True, True)


def test_risks_have_the_words_of_the_gold_tags_whatever_white_space_there_is() -> None:
    # Two spaces, one that does not break (as bytes), and one at the end: none of them is a word.
    pieces = ("▁Ein", "▁", "▁Hun", "d", "<0xC2>", "<0xA0>", "läuft", "▁")
    script = EditScript(drop=(False,) * 8, counts=(0,) * 9, fill=())
    trace = Trace(
        draft=tuple(range(5, 13)),
        draft_pieces=pieces,
        iterations=(
            Iteration(
                script=script,
                pieces=(),
                drop_probs=(0.9, 0.1, 0.8, 0.7, 0.9, 0.9, 0.6, 0.2),
                counts_probs=(0.95, 0.85, 0.75, 1.0, 0.9, 1.0, 1.0, 0.65, 0.55),
            ),
        ),
    )
    risks = trace_risks(trace)
    assert risks.words == pytest.approx((0.1, 0.3, 0.4))
    assert risks.gaps == pytest.approx((0.05, 0.25, 0.1, 0.45))
    gold = gold_tags("Ein  Hund\u00a0läuft ", "Ein Hund rennt")
    assert tag_scores([risks.tags(0.35)], [gold])[0].value == pytest.approx(100.0)


def test_risks_of_an_empty_draft_and_without_probabilities() -> None:
    script = EditScript(drop=(), counts=(1,), fill=(9,))
    empty = Trace(
        draft=(),
        draft_pieces=(),
        iterations=(Iteration(script=script, pieces=("▁a",), counts_probs=(0.8,)),),
    )
    assert trace_risks(empty) == Risks(words=(), gaps=(0.8,))
    with pytest.raises(InputError, match="no probabilities"):
        trace_risks(Trace.of([5], [EditScript(drop=(False,), counts=(0, 0), fill=())], lambda _: "▁a"))
    with pytest.raises(InputError, match="no iteration"):
        trace_risks(Trace.of([5], [], lambda _: "▁a"))


def test_threshold_is_the_best_of_those_tried() -> None:
    gold = [Tags(words=(False, False, True, True), gaps=(False,) * 5)]
    risks = [Risks(words=(0.1, 0.3, 0.35, 0.9), gaps=(0.0,) * 5)]
    chosen = best_threshold(risks, gold)
    assert 0.3 <= chosen < 0.35
    assert mcc(risks[0].tags(chosen).words, gold[0].words) == 1.0
    # Where several are as good, the one nearest to the default; where none is of use, that itself.
    wide = [Risks(words=(0.1, 0.3, 0.8, 0.9), gaps=(0.0,) * 5)]
    assert best_threshold(wide, gold) == 0.5
    assert best_threshold(wide, [Tags(words=(False,) * 4, gaps=(False,) * 5)]) == 0.5
