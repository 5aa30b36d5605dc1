"""``levt reproduce``: a table or figure of the paper by one command."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import tyro

if TYPE_CHECKING:
    from levt.recipes.reproduce.framework.step import Step
    from levt.recipes.reproduce.framework.workplace import Workplace


def reproduce(
    name: tyro.conf.Positional[str] = "",
    scale: Literal["toy", "quick", "paper"] = "quick",
    data: Path = Path("data"),
    work: Path = Path("reproduce"),
    out: Path | None = None,
    seeds: int = 1,
    tasks: tuple[str, ...] = (),
    budget_minutes: float | None = None,
    parallel: int = 1,
    dry_run: bool = False,
) -> None:
    """Reproduce a table or figure of the paper; without a name, list them.

    Example: levt reproduce table-1 --data data --budget-minutes 9 --parallel 3

    The work is a chain of steps (prepare, train, distil, decode, score, time). Each is done once: run the command
    again to go on after an interruption, and steps that two names share are shared. The page, its JSON and its
    plots are written to OUT; a text of your own in OUT/findings/NAME.md becomes part of the page.

    Args:
        name: What to reproduce.
        scale: toy: made-up sentences, seconds on a CPU; quick: small models, minutes on a GPU; paper: the paper's
            settings and corpora, days on several GPUs.
        data: Folder with the sets of texts, a folder each; what is missing is said before any work is done.
        work: Folder of the steps; it may be moved to another machine, and go on there.
        out: Folder of the pages; by default results/SCALE.
        seeds: Trainings of each model whose scores are averaged.
        tasks: Of table-1, which of ro-en, en-de, en-de-long, en-ja and summarisation; by default all.
        budget_minutes: Begin no step that would end later than in so many minutes.
        parallel: Steps that run side by side, in processes of their own: small models leave a GPU idle.
        dry_run: Print the steps and how long each will take, and do nothing.
    """
    from levt.recipes.reproduce import names, reproduction

    if not name:
        for one in names():
            print(f"{one:<22} {reproduction(one).title}")
        return
    from levt.recipes.reproduce.framework.publish import publish
    from levt.recipes.reproduce.framework.runner import run_chain
    from levt.recipes.reproduce.framework.setting import Setting
    from levt.recipes.reproduce.framework.step import check_files
    from levt.recipes.reproduce.framework.workplace import Workplace
    from levt.recipes.reproduce.parts.layout import LAYOUT
    from levt.recipes.reproduce.parts.packages import check_packages

    chosen = reproduction(name)
    setting = Setting(scale=scale, data=data, seeds=seeds, tasks=tasks)
    goal, place = chosen.goal(setting), Workplace(work)
    check_files(goal, hint=LAYOUT[scale])
    check_packages(goal)
    if dry_run:
        print_plan(goal, place)
        return
    with View(bars=parallel > 1) as view:
        outcome = run_chain(goal, place, view, parallel=parallel, minutes=budget_minutes)
    if not outcome.complete:
        print(
            f"{len(outcome.left)} steps are left, about {_clock(outcome.seconds)}; next: {outcome.left[0].label}\n"
            "hint: run the same command again to go on",
            file=sys.stderr,
        )
        return
    page = publish(chosen, goal, place, setting, out or Path("results") / scale)
    print(f"{page}", file=sys.stderr)


def print_plan(goal: "Step", work: "Workplace") -> None:
    """The steps of a chain, which of them are to be done, and how long that will take."""
    from levt.recipes.reproduce.framework.step import chain

    pending = {step.digest for step in work.pending(goal)}
    steps = chain(goal)
    width = max(len(step.label) for step in steps)
    for step in steps:
        state = (
            _clock(step.seconds) if step.digest in pending else "done" if work.stamp(step) else "not needed"
        )
        print(f"{step.label:<{width}}  {step.digest}  {state:>10}{'  alone' if step.alone else ''}")
    total = sum(step.seconds for step in steps if step.digest in pending)
    print(f"{len(pending)} of {len(steps)} steps to do, about {_clock(total)} one after the other")


class View:
    """How a chain goes, on stderr: running steps and a bar on a terminal, else a line for each step."""

    def __init__(self, *, bars: bool) -> None:
        # One after the other, steps run in this process, and a training shows a bar of its own.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TimeElapsedColumn(),
            TextColumn("{task.fields[said]}", markup=False),
            console=console,
            disable=not (bars and console.is_terminal),
        )
        self.tasks: dict[str, TaskID] = {}
        self.done = self.total = 0
        self.whole = self.bars.add_task("all steps", total=None, said="")
        self.began: dict[str, float] = {}

    def __enter__(self) -> "View":
        self.bars.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.bars.stop()

    def planned(self, steps: "list[Step]", done: int) -> None:
        """Show how much there is to do."""
        self.total = len(steps)
        seconds = sum(step.seconds for step in steps)
        self.bars.update(self.whole, total=max(seconds, 1e-9))
        self._line(f"{done} steps are done already, {len(steps)} to do, about {_clock(seconds)}")

    def started(self, step: "Step") -> None:
        """Show a step that begins."""
        self.began[step.digest] = time.monotonic()
        self.tasks[step.digest] = self.bars.add_task(step.label, total=step.seconds, said="")
        self._line(f"begun: {step.label}, about {_clock(step.seconds)}")

    def told(self, step: "Step", text: str) -> None:
        """Show what a step says."""
        passed = min(time.monotonic() - self.began[step.digest], step.seconds)
        self.bars.update(self.tasks[step.digest], completed=passed, said=text[:80])

    def finished(self, step: "Step", seconds: float) -> None:
        """Show that a step is done."""
        self.done += 1
        self.bars.remove_task(self.tasks.pop(step.digest))
        self.bars.advance(self.whole, step.seconds)
        self._line(f"[{self.done}/{self.total}] {step.label}: {_clock(seconds)}")

    def _line(self, text: str) -> None:
        """A line that stays."""
        if self.bars.disable:
            print(text, file=sys.stderr, flush=True)
        else:
            self.bars.console.print(text, markup=False, highlight=False)


def _clock(seconds: float) -> str:
    """A duration for people.

    >>> _clock(8.2), _clock(100.0), _clock(7200.0)
    ('8 s', '1:40', '2:00:00')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
