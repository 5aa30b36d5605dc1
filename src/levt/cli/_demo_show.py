"""How the demonstrations show a result: its edits, its iterations, its milliseconds."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from levt.engine.result import Result


def timed(work: "Callable[[], Result]") -> float:
    """Milliseconds that some work takes."""
    import time

    begun = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begun)


def show_result(
    console: "Console", result: "Result", milliseconds: float, verdict: str = "", source: str = ""
) -> None:
    """Print a trace and what it cost."""
    from levt.cli._layout import counted
    from levt.edits.render_terminal import show

    note = (
        f"{counted(result.iterations, 'iteration')}, {milliseconds:.0f} ms{f', {verdict}' if verdict else ''}"
    )
    console.print()
    show(result.trace, console, iterations=result.iterations, source=source, note=note)


def write_page(
    path: Path, results: "Sequence[Result]", title: str, note: str, sources: Sequence[str] = ()
) -> None:
    """Write the edits as a page for the browser, with their sources where these are not the drafts."""
    from levt.edits.render_html import page, section

    parts = [
        section(
            result.trace,
            title=f"Sentence {i + 1}",
            source=sources[i] if sources else "",
            iterations=result.iterations,
        )
        for i, result in enumerate(results)
    ]
    path.write_text(page(parts, title=title, note=" ".join(note.split())), encoding="utf-8")
