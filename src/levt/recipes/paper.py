"""The paper's own settings, for who has its corpora: WMT, WAT and Gigaword are not ours to give.

d 512, inner 2048, 8 heads, 6 + 6 layers; learning rate 5e-4 after 10,000 warm-up steps, then falling with the
inverse square root; label smoothing 0.1, dropout 0.3; 65,536 target tokens a step, 300,000 steps; the best
checkpoint by BLEU, ROUGE-2 or TER on the validation set, decoded by Algorithm 2 alone, no averaging of weights.
Sources and targets share their embeddings, except for Japanese. Vocabularies have the sizes of the paper's tables 4
and 5: ours are counted in pieces, the paper's 32,000, 40,000 and 16,384 are merges.

Here a step is 32,768 tokens twice, for one large GPU. On eight GPUs, as in the paper:
torchrun --nproc-per-node 8 -m levt train RECIPE --training.tokens 8192 --training.accumulate 1
The teacher's student: levt chain wmt14-en-de-ar wmt14-en-de-levt --no-warm, for the paper's begins with random
weights. The paper's best sharing: --model.sharing plh+tok
"""

from pathlib import Path
from typing import Any

from levt.imitation.objective import ObjectiveConfig
from levt.policy.config import AutoregressiveConfig, LevTConfig, PostEditingConfig, RecurrentConfig
from levt.recipes.experiment import AnyConfig, Experiment
from levt.recipes.sizes import BASE, OPEN
from levt.refine.options import Options
from levt.training.config import TrainingConfig

SEPARATE: dict[str, Any] = {"joint_embeddings": False}
ARTIFICIAL: dict[str, Any] = {"times": 10, "more": (Path("corpora/wmt17-ape-500k"),)}
"""Real triples count ten times for each of the artificial ones that are mixed in."""
TRAINING = TrainingConfig(
    tokens=32_768, accumulate=2, max_steps=300_000, learning_rate=5e-4, warmup=10_000, schedule="inverse-sqrt",
    validate_every=5_000, save_every=5_000,
)  # fmt: skip


def _experiment(name: str, kind: str, model: AnyConfig, **fields: Any) -> Experiment:
    return Experiment(
        corpus=Path("corpora") / name,
        out=Path("runs") / f"{name}-{kind}",
        model=model,
        objective=ObjectiveConfig(label_smoothing=0.1),
        training=TRAINING,
        options=Options(reread=False),
        dev_limit=3_000,
        **fields,
    )


def wmt16_ro_en_ar() -> Experiment:
    """Table 1, WMT16 Romanian→English: the autoregressive baseline and teacher (32.30 BLEU with beam 4).

    608,319 pairs, 34,983 pieces for both sides, newsdev2016 and newstest2016:
    levt prepare --train train.ro train.en --dev newsdev2016.ro newsdev2016.en
        --test newstest2016.ro newstest2016.en --vocabulary 34983 --out corpora/wmt16-ro-en
    """
    return _experiment("wmt16-ro-en", "ar", AutoregressiveConfig(**BASE))


def wmt16_ro_en_levt() -> Experiment:
    """Table 1, WMT16 Romanian→English: LevT (33.02 BLEU, distilled 33.26); the corpus as for wmt16-ro-en-ar."""
    return _experiment("wmt16-ro-en", "levt", LevTConfig(**BASE))


def wmt16_ro_en_half1_lstm() -> Experiment:
    """Table 3, the imperfect translator whose output is to be edited: one LSTM layer each, width 512.

    Trained on the first half of the pairs (300,000), so that it translates the other half unseen:
    levt prepare --train half1.ro half1.en --dev newsdev2016.ro newsdev2016.en
        --tokenizer corpora/wmt16-ro-en/tokenizer.json --out corpora/wmt16-ro-en-half1
    """
    return _experiment("wmt16-ro-en-half1", "lstm", RecurrentConfig(**OPEN, width=512))


def wmt14_en_de_ar() -> Experiment:
    """Table 1, WMT14 English→German: the autoregressive baseline and teacher (27.17 BLEU with beam 4).

    4,500,966 pairs, 37,009 pieces for both sides, newstest2013 and newstest2014:
    levt prepare --train train.en train.de --dev newstest2013.en newstest2013.de
        --test newstest2014.en newstest2014.de --vocabulary 37009 --out corpora/wmt14-en-de
    """
    return _experiment("wmt14-en-de", "ar", AutoregressiveConfig(**BASE))


def wmt14_en_de_levt() -> Experiment:
    """Table 1, WMT14 English→German: LevT (25.20 BLEU, distilled 27.27); the corpus as for wmt14-en-de-ar."""
    return _experiment("wmt14-en-de", "levt", LevTConfig(**BASE))


def wat17_en_ja_ar() -> Experiment:
    """Table 1, WAT17 English→Japanese: the autoregressive baseline and teacher (43.68 BLEU with beam 4).

    2,000,000 pairs, 17,952 pieces on each side (the paper's Japanese has 17,801). The paper scores words of KyTea,
    we of MeCab (extra ja):
    levt prepare --train train.en train.ja --dev dev.en dev.ja --test test.en test.ja
        --separate --vocabulary 17952 --out corpora/wat17-en-ja
    """
    return _experiment("wat17-en-ja", "ar", AutoregressiveConfig(**BASE, **SEPARATE), tokenize="ja-mecab")


def wat17_en_ja_levt() -> Experiment:
    """Table 1, WAT17 English→Japanese: LevT (42.36 BLEU, distilled 43.17); the corpus as for wat17-en-ja-ar."""
    return _experiment("wat17-en-ja", "levt", LevTConfig(**BASE, **SEPARATE), tokenize="ja-mecab")


def gigaword_ar() -> Experiment:
    """Table 1, English Gigaword: the autoregressive baseline and teacher (ROUGE-2 18.92 with beam 4).

    3,803,957 pairs of first sentence and headline, 30,004 pieces for both sides:
    levt prepare --train train.article train.title --dev valid.article valid.title
        --test test.article test.title --vocabulary 30004 --out corpora/gigaword
    """
    return _experiment("gigaword", "ar", AutoregressiveConfig(**BASE), metric="rouge-2")


def gigaword_levt() -> Experiment:
    """Table 1, English Gigaword: LevT (ROUGE-2 17.14, distilled 18.33); the corpus as for gigaword-ar."""
    return _experiment("gigaword", "levt", LevTConfig(**BASE), metric="rouge-2")


def wmt17_ape_4m_levt() -> Experiment:
    """Table 3, WMT17 post-editing: LevT that translates, for zero-shot (TER 28.7) and to be fine-tuned.

    Sources and targets of the 4,391,180 artificial triples, whose vocabulary serves all triples:
    levt prepare --train 4m.src 4m.pe --dev dev.src dev.pe --test test.src test.pe
        --vocabulary 40349 --out corpora/wmt17-ape-4m
    """
    return _experiment("wmt17-ape-4m", "levt", LevTConfig(**BASE), tokenize="none")


def wmt17_ape_levt() -> Experiment:
    """Table 3, WMT17 post-editing English→German: LevT from scratch (TER 21.9).

    526,368 artificial triples, and the 24,000 real ones ten times each. The real ones are prepared by
    levt prepare --draft --train train.src train.mt train.pe --dev dev.src dev.mt dev.pe
        --test test.src test.mt test.pe --tokenizer corpora/wmt17-ape-4m/tokenizer.json --out corpora/wmt17-ape
    and the artificial ones with the same tokenizer to corpora/wmt17-ape-500k.
    """
    return _experiment("wmt17-ape", "levt", LevTConfig(**BASE), metric="ter", **ARTIFICIAL)


def wmt17_ape_fine_tuned() -> Experiment:
    """Table 3, WMT17 post-editing: LevT trained further from wmt17-ape-4m-levt (TER 19.2); corpus of wmt17-ape-levt."""
    return _experiment(
        "wmt17-ape", "fine-tuned", LevTConfig(**BASE), metric="ter",
        init=Path("runs/wmt17-ape-4m-levt/best"), **ARTIFICIAL,
    )  # fmt: skip


def wmt17_ape_post_editor() -> Experiment:
    """Table 3, WMT17 post-editing: the Transformer over source and draft (TER 22.1); corpus of wmt17-ape-levt."""
    return _experiment(
        "wmt17-ape", "post-editor", PostEditingConfig(**BASE), metric="ter", **ARTIFICIAL
    )  # fmt: skip
