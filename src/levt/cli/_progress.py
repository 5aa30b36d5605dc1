"""Progress bars on stderr for work that counts its pieces; silent where stderr is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block lasts; it is moved by telling it how many are done, of how many."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


class Stages:
    """A bar for each stage of some work, by its share."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TaskID,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=(console := Console(stderr=True)),
            transient=True,
            disable=not console.is_terminal,
        )
        self.stages: dict[str, TaskID] = {}

    def show(self, stage: str, done: int, total: int) -> None:
        """Move the bar of a stage."""
        if stage not in self.stages:
            self.stages[stage] = self.bars.add_task(stage, total=total or None)
        self.bars.update(self.stages[stage], completed=done)

    def __enter__(self) -> "Stages":
        self.bars.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.bars.stop()
