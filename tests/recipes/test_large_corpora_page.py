"""The page about large corpora has the figures that its script computes."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_those_of_the_script() -> None:
    path = ROOT / "benchmarks" / "large_corpora.py"
    spec = importlib.util.spec_from_file_location("large_corpora", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (ROOT / "docs" / "large-corpora.md").read_text("utf-8")
    assert script.rates() in page
    assert script.table() in page
    # A rate that is a placeholder is marked wherever it counts.
    few = script.stages(8)
    assert few["distil, beam 4"] == (script.PAIRS / (script.BEAM.value * 8) / 3600, script.BEAM.measured)
