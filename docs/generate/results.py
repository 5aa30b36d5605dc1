"""The page that lists what was measured: the README's table, the paper again, benchmarks, cards of models."""

import re
from collections import Counter
from pathlib import Path

RELATIVE = re.compile(r"\]\((?!\w+:|#)")
MADE_BY = re.compile(r"`(?P<command>levt reproduce [^`]*)` on (?P<machine>[^;]*); seeds (?P<seeds>[^;]*);")


def page(root: Path) -> str:
    """The whole page."""
    again = ["| what | made by | seeds | machine |", "|---|---|---|---|"]
    for title, place in reproductions(root).items():
        found = MADE_BY.search((root / "docs" / place).read_text(encoding="utf-8"))
        facts = "`{command}` | {seeds} | {machine}".format(**found.groupdict()) if found else " | | "
        again.append(f"| [{title}]({place.removeprefix('results/')}) | {facts} |")
    benches = ["| what | machine | when |", "|---|---|---|"]
    for title, place in benchmarks(root).items():
        theme, _, when = Path(place).stem.rpartition("_")
        link = f"[{title}]({place.removeprefix('results/')})"
        benches.append(f"| {link} | {_machine(theme)} | {when[:4]}-{when[4:]} |")
    cards = [
        f"[{path.parent.name}]({path.parent.name}.md): its card, with data, licences and limits."
        for path in sorted((root / "src" / "levt" / "models").glob("*/README.md"))
    ]
    return "\n\n".join(
        [
            "# Results",
            "What `levt reproduce` and `benchmarks/` printed: command, versions, rivals in the same run (but "
            "the reference implementation, which was measured apart), quality beside speed. Losses are "
            "published like wins.",
            "## At a glance",
            _glance(root),
            "## The paper again",
            "[How they are made](reproduce.md). Each page begins with what agrees with the paper and what does not.",
            "\n".join(again),
            "## Benchmarks",
            "\n".join(benches),
            "## Models",
            *cards,
        ]
    )


def reproductions(root: Path) -> dict[str, str]:
    """The reproductions of the paper: their places in the site, by title."""
    docs = root / "docs"
    return _titled({path: path.relative_to(docs).as_posix() for path in sorted(docs.glob("results/*/*.md"))})


def benchmarks(root: Path) -> dict[str, str]:
    """The results of benchmarks: their places in the site, by title."""
    found = sorted((root / "benchmarks" / "results").glob("*.md"))
    return _titled({path: f"results/benchmarks/{path.name}" for path in found})


def _titled(places: dict[Path, str]) -> dict[str, str]:
    """Places by title; where a title comes twice, the name of the file is behind it."""
    titles = {path: path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for path in places}
    times = Counter(titles.values())
    return {
        title if times[title] == 1 else f"{title} ({path.stem})": places[path]
        for path, title in titles.items()
    }


def _glance(root: Path) -> str:
    """The part "Results" of the README; its links lead from where this page would lie in docs."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    part = readme.partition("\n## Results\n")[2].partition("\n## ")[0].strip()
    return RELATIVE.sub("](../../", part)


def _machine(theme: str) -> str:
    """What the name of a result says of where it was measured.

    >>> _machine("latency_h200"), _machine("cold_start_2core"), _machine("refinement_multi30k")
    ('one NVIDIA H200', 'two CPU cores', 'see there')
    """
    machines = {"h200": "one NVIDIA H200", "2core": "two CPU cores"}
    return next((words for name, words in machines.items() if name in theme), "see there")
