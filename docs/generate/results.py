"""The page that lists what was measured: results of benchmarks, cards of models, reproductions of the paper."""

from pathlib import Path


def page(root: Path) -> str:
    """The whole page."""
    rows = []
    for path in sorted((root / "benchmarks" / "results").glob("*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        theme, _, when = path.stem.rpartition("_")
        rows.append(f"| [{title}](benchmarks/{path.name}) | {_machine(theme)} | {when[:4]}-{when[4:]} |")
    for path in sorted((root / "src" / "levt" / "models").glob("*/README.md")):
        name = path.parent.name
        rows.append(f"| [{name}: its card, with data, licences and limits]({name}.md) | | |")
    results = root / "docs" / "results"
    for path in [*sorted(results.glob("*.md")), *sorted(results.glob("*/*.md"))]:
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        where = "" if path.parent == results else "see there"
        rows.append(f"| [{title}]({path.relative_to(results).as_posix()}) | {where} | |")
    table = "\n".join(["| what | machine | when |", "|---|---|---|", *rows])
    return (
        "# Results\n\nWhat `benchmarks/` and `levt reproduce` printed: command, versions, rivals in the same "
        "run (but the reference implementation, which was measured apart), quality beside speed. Losses are published "
        f"like wins.\n\n{table}\n"
    )


def _machine(theme: str) -> str:
    """What the name of a result says of where it was measured.

    >>> _machine("latency_h200"), _machine("cold_start_2core"), _machine("refinement_multi30k")
    ('one NVIDIA H200', 'two CPU cores', 'see there')
    """
    machines = {"h200": "one NVIDIA H200", "2core": "two CPU cores"}
    return next((words for name, words in machines.items() if name in theme), "see there")
