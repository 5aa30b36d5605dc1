"""The page that lists what was measured: every result of ``benchmarks/results`` with its heading."""

from pathlib import Path


def page(root: Path) -> str:
    """The whole page."""
    rows = []
    for path in sorted((root / "benchmarks" / "results").glob("*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        theme, _, when = path.stem.rpartition("_")
        rows.append(
            f"| [{title}](benchmarks/{path.name}) | {theme.partition('_')[2]} | {when[:4]}-{when[4:]} |"
        )
    for path in sorted((root / "docs" / "results").glob("*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        rows.append(f"| [{title}]({path.name}) | | |")
    table = "\n".join(["| what | machine | when |", "|---|---|---|", *rows])
    return (
        "# Results\n\nWhat `benchmarks/` and `levt reproduce` printed: command, versions, rivals in the same run, "
        f"quality beside speed. Losses are published like wins.\n\n{table}\n"
    )
