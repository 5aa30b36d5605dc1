"""Drafts with errors: only words are changed."""

import random

from levt.evaluation.corruption import corrupted


def test_what_has_no_words_stays_empty() -> None:
    for seed in range(50):
        assert corrupted("", 1.0, ["word"], random.Random(seed)) == ""
        assert corrupted("  ", 1.0, ["word"], random.Random(seed)) == ""
