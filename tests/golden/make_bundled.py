"""Writes bundled_expected.json: what levt-en-de, as it comes with the package, writes on a CPU in float32.

Run it only where the bundled model is new: ``python tests/golden/make_bundled.py``.
"""

import json
from pathlib import Path

import levt
from levt.recipes.bundled import NAME
from levt.recipes.bundled_sentences import DRAFTS, SENTENCES

EXPECTED = Path(__file__).parent / "bundled_expected.json"


def answers() -> dict[str, list[dict[str, object]]]:
    """Translations of all sentences, and the drafts repaired."""
    model = levt.load(NAME, device="cpu", dtype="float32")
    written = [model.translate(text) for text in SENTENCES]
    repaired = [model.refine(text, draft=draft) for text, draft in DRAFTS]
    return {
        "translations": [
            {"source": text, "text": result.text, "iterations": result.iterations}
            for text, result in zip(SENTENCES, written, strict=True)
        ],
        "repairs": [
            {"source": text, "draft": draft, "text": result.text, "iterations": result.iterations}
            for (text, draft), result in zip(DRAFTS, repaired, strict=True)
        ],
    }


if __name__ == "__main__":
    EXPECTED.write_text(json.dumps(answers(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
