"""Sizes of networks that recipes share. A vocabulary is that of the corpus, so it stands open here."""

from typing import Any

from levt.recipes.experiment import UNKNOWN

OPEN: dict[str, Any] = {"source_vocabulary": UNKNOWN, "target_vocabulary": UNKNOWN}

SMALL: dict[str, Any] = {**OPEN, "width": 256, "hidden": 1024, "heads": 4, "max_length": 512}
"""For up to some hundred thousand short examples: minutes on one GPU."""

BASE: dict[str, Any] = {**OPEN, "width": 512, "hidden": 2048, "heads": 8}
"""The paper's: d 512, inner 2048, 8 heads, 6 + 6 layers."""
