"""axe-core in a page: what it finds that matters."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


def serious(editor: Any) -> dict[str, list[str]]:
    """Rules that are broken, with the elements that break them; the test is skipped where axe is missing."""
    spec = find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        pytest.skip("needs axe-playwright-python")
    if not editor.evaluate("'axe' in window"):
        editor.evaluate((Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = editor.evaluate("axe.run({resultTypes: ['violations']})")
    assert found["passes"], "axe looked at nothing"
    return {
        problem["id"]: [node["html"] for node in problem["nodes"]]
        for problem in found["violations"]
        if problem["impact"] in ("moderate", "serious", "critical")
    }
