"""Learning a BPE vocabulary from lines of text. Knows no file and no segmentation of its own."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, trainers

from levt.text.segmentation import BYTES, SPACE
from levt.text.specials import SPECIALS, UNK

COVERAGE = 0.9995
"""Share of the characters of the training text that get pieces of their own; the rest are spelt in bytes."""

COUNTED = 100_000
"""About how many lines are enough to tell which characters are common."""


def learn_bpe(
    lines: Sequence[str],
    size: int,
    *,
    normalizer: normalizers.Normalizer,
    units: pre_tokenizers.PreTokenizer,
    progress: bool = False,
) -> models.BPE:
    """A BPE model of at most ``size`` pieces: symbols, bytes, common characters, then what occurs twice."""
    fixed = [*SPECIALS, *BYTES]
    # A sample, not every k-th line: sources and targets may alternate.
    some = lines if len(lines) <= COUNTED else random.Random(0).sample(lines, COUNTED)
    alphabet = common_characters(map(normalizer.normalize_str, some), size - len(fixed))
    learner = tokenizers.Tokenizer(models.BPE())
    learner.normalizer, learner.pre_tokenizer = normalizer, units
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=fixed,
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=progress,
    )
    learner.train_from_iterator(lines, trainer, length=len(lines))
    # The trainer also registers the symbols to match in text; so the model alone is taken over.
    learnt = json.loads(learner.to_str())["model"]
    merges = [(first, second) for first, second in learnt["merges"]]
    return models.BPE(vocab=learnt["vocab"], merges=merges, unk_token=SPECIALS[UNK], byte_fallback=True)


def common_characters(lines: Iterable[str], most: int) -> list[str]:
    """The commonest characters that together make COVERAGE of the text, at most ``most``; ▁ always.

    >>> common_characters(["bad", "dab"], 3)
    ['▁', 'a', 'b']
    """
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(line)
    needed = COVERAGE * counts.total()
    kept = [SPACE]
    covered = counts.pop(SPACE, 0)
    # Ties by code point, so that the same lines in another order give the same characters.
    for character, times in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if covered >= needed or len(kept) >= most:
            break
        kept.append(character)
        covered += times
    return kept
