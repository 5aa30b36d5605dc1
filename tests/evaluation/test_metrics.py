"""Scores are those of sacrebleu and rouge-score called directly, and bad corpora are refused."""

import sys

import pytest
import sacrebleu
from evaluation_corpus import DRAFTS, HYPOTHESES, REFERENCES
from rouge_score.rouge_scorer import RougeScorer

from levt.errors import ConfigError, InputError, MissingExtra
from levt.evaluation.metrics import Metric, bleu, chrf, metric, ter
from levt.evaluation.scorers import MetricName, Tokenize

ROUGE: tuple[MetricName, ...] = ("rouge-1", "rouge-2", "rouge-l")
ALL: tuple[MetricName, ...] = ("bleu", "chrf", "chrf++", "ter", *ROUGE)


def test_bleu_is_that_of_sacrebleu_for_every_tokenizer() -> None:
    for tokenize in ("13a", "intl", "none", "char", "zh"):
        expected = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], tokenize=tokenize)
        found = bleu(HYPOTHESES, REFERENCES, tokenize=tokenize)
        assert (found.name, found.value) == ("BLEU", expected.score)
        assert f"case:mixed|eff:no|tok:{tokenize}|" in found.signature
        assert f"version:{sacrebleu.__version__}" in found.signature
        assert found.interval is None


def test_chrf_and_ter_are_those_of_sacrebleu() -> None:
    assert chrf(HYPOTHESES, REFERENCES).value == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    plus = sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES], word_order=2)
    assert chrf(HYPOTHESES, REFERENCES, words=True).value == plus.score
    assert chrf(HYPOTHESES, REFERENCES, words=True).name == "chrF2++"
    assert ter(HYPOTHESES, REFERENCES).value == pytest.approx(
        sacrebleu.corpus_ter(HYPOTHESES, [REFERENCES], case_sensitive=True).score
    )


def test_case_counts() -> None:
    assert bleu(["the dog sleeps here ."], ["The Dog sleeps here ."]).value < 100
    assert ter(["the dog"], ["The dog"]).value == 50
    assert "case:mixed" in ter(["the dog"], ["The dog"]).signature


def test_rouge_is_the_mean_f1_of_rouge_score() -> None:
    kinds = ["rouge1", "rouge2", "rougeL"]
    for stem in (False, True):
        scorer = RougeScorer(kinds, use_stemmer=stem)
        sentences = [scorer.score(r, h) for h, r in zip(HYPOTHESES, REFERENCES, strict=True)]
        for kind, name in zip(kinds, ROUGE, strict=True):
            score = metric(name, stem=stem).measure(HYPOTHESES, REFERENCES)
            mean = sum(sentence[kind].fmeasure for sentence in sentences) / len(sentences)
            assert score.value == pytest.approx(100 * mean)
            assert f"stem:{'yes' if stem else 'no'}" in score.signature
            assert score.name == name.upper()


def test_several_references_are_alternatives() -> None:
    for name in ALL:
        found = metric(name)
        best = found.measure(HYPOTHESES, [REFERENCES, HYPOTHESES])
        assert best.value == pytest.approx(100 if found.higher_is_better else 0)
        assert "nrefs:2" in best.signature
        assert abs(found.score(HYPOTHESES, REFERENCES) - best.value) > 1


def test_text_without_spaces_is_cut_for_ter_and_rouge_too() -> None:
    here, there = ["犬が雪の上を走る"], ["犬が雪の上で走る"]
    assert ter(here, there).value == 100
    assert ter(here, there, tokenize="char").value == pytest.approx(100 / 8)
    assert "tok:char" in ter(here, there, tokenize="char").signature
    assert metric("rouge-1").score(here, there) == 0
    assert metric("rouge-1", tokenize="char").score(here, there) == pytest.approx(100 * 7 / 8)
    # Where there are spaces, both keep to their own custom, whatever BLEU does.
    for name in ("ter", "rouge-1"):
        own = metric(name).measure(HYPOTHESES, REFERENCES)
        assert metric(name, tokenize="13a").measure(HYPOTHESES, REFERENCES) == own


@pytest.mark.parametrize("name", ALL)
def test_degenerate_corpora(name: str) -> None:
    found = metric(name)
    perfect, lost = (100, 0) if found.higher_is_better else (0, 100)
    assert found.score(REFERENCES, REFERENCES) == pytest.approx(perfect)
    assert found.score(REFERENCES[:1], REFERENCES[:1]) == pytest.approx(perfect)
    assert found.score([""] * 5, REFERENCES) == lost
    assert 0 < found.score(["", *REFERENCES[1:]], REFERENCES) < 100
    # sacrebleu's chrF passes over what has no reference.
    without = found.score(REFERENCES, ["", *REFERENCES[1:]])
    assert without == 100 if name.startswith("chrf") else 0 < without < 100
    assert found.score([""], [""]) == 0
    one = found.measure(HYPOTHESES[1:2], REFERENCES[1:2], samples=40)
    assert one.interval == pytest.approx((one.value, one.value))


@pytest.mark.parametrize("name", ALL)
def test_the_draft_is_worse(name: str) -> None:
    found = metric(name)
    draft, better = found.score(DRAFTS, REFERENCES), found.score(HYPOTHESES, REFERENCES)
    assert (better > draft) == found.higher_is_better


def test_bad_corpora_are_refused() -> None:
    with pytest.raises(InputError, match="as many hypotheses as references, got 2 and 5"):
        bleu(HYPOTHESES[:2], REFERENCES)
    with pytest.raises(InputError, match="got 5 and 5, 4"):
        bleu(HYPOTHESES, [REFERENCES, REFERENCES[:4]])
    with pytest.raises(InputError, match="texts of 'ours'"):
        metric("ter").compare({"ours": HYPOTHESES[:1]}, REFERENCES)
    with pytest.raises(InputError, match="nothing to score"):
        chrf([], [])
    for texts in ("a text", ["a text"]):
        with pytest.raises(InputError, match="got one string"):
            bleu(texts, "a text")


def test_bad_settings_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"(?s)metric must be one of bleu, .*got 'BLEU'.*did you mean 'bleu'"
    ):
        Metric(name="BLEU")
    with pytest.raises(ConfigError, match=r"tokenize must be one of 13a, .*got 'mecab'"):
        Metric(name="bleu", tokenize="mecab")
    with pytest.raises(ConfigError, match=r"samples must be at least 40 .* got 10"):
        bleu(HYPOTHESES, REFERENCES, samples=10)


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    for name in ("bleu", "ter", "rouge-2"):
        with pytest.raises(MissingExtra, match=r"(?s)mecab.*levt\[ja\].*'char'"):
            metric(name, tokenize="ja-mecab")
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    with pytest.raises(MissingExtra, match=r"(?s)rouge-score.*levt\[eval\]"):
        metric("rouge-2")
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(MissingExtra, match=r"(?s)sacrebleu.*levt\[eval\]"):
        metric("ter")


@pytest.mark.parametrize(("name", "tokenize"), [("bleu", None), ("ter", "char"), ("rouge-1", "char")])
def test_stems_are_of_english_words_alone(name: MetricName, tokenize: Tokenize | None) -> None:
    with pytest.raises(ConfigError, match="stem is for ROUGE of English words"):
        metric(name, tokenize=tokenize, stem=True)
    assert "stem:yes" in metric("rouge-1", tokenize="13a", stem=True).measure(["runs"], ["run"]).signature


def test_every_system_is_compared_with_the_first() -> None:
    """The third is the second, so against the first both have one p-value, which is not that of equals."""
    texts = [f"{word} one two three four" for word in ("a", "b", "c", "d", "e", "f", "g", "h")]
    wrong = [text.replace("two three", "nine ten") for text in texts]
    found = metric("bleu").compare({"first": texts, "second": wrong, "third": wrong}, texts, samples=100)
    assert found["first"].p_value is None
    assert found["second"].p_value == found["third"].p_value
    assert found["third"].p_value is not None
    assert found["third"].p_value < 0.1
