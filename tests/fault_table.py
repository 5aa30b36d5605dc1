"""The table of faults, docs/faults.md, made of the tests that try them.

A test that does something cruel says so by ``@pytest.mark.fault(what, when, outcome)``, with plain texts;
``pytest tests --write-faults`` writes the rows of all such tests that pass. Rows of tests that were not run, or
skipped, are kept as they are. ``tests/faults/test_fault_table.py`` compares the page with the marks.
"""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "faults.md"
HEAD = """# What happens when things break

Made by the tests themselves (`pytest tests --write-faults`): each row is a test that does this to levt, and passes only
if it ends this way. Nothing is lost, doubled or half-written; what cannot go on says so in one clear error.

| fault | when | how it ends |
|---|---|---|
"""


class Fault(NamedTuple):
    """What is done, when, and how it ends."""

    what: str
    when: str
    outcome: str


def declared() -> set[Fault]:
    """The faults that the tests name, read from their source, so that it does not matter which of them run."""
    found = set()
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "pytest.mark.fault(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.fault":
                found.add(Fault(*(ast.literal_eval(argument) for argument in node.args)))
    return found


def read_page() -> list[Fault]:
    """The rows of the page."""
    if not PAGE.exists():
        return []
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")][1:]
    return [Fault(*(cell.strip() for cell in row.strip("|").split("|"))) for row in rows]


def write_page(passed: Iterable[Fault]) -> None:
    """Write the page: what has passed now, and of the rest what is still declared and was there before."""
    known = declared()
    rows = sorted({*passed, *read_page()} & known)
    PAGE.write_text(HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows), encoding="utf-8")
