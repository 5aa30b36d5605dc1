"""``levt reproduce``: a table or figure of the paper by one command."""

import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from levt.cli._flags import Flag, Many, Maybe
from levt.cli._layout import counted, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from levt.recipes.reproduce.framework.runner import StepFailed
    from levt.recipes.reproduce.framework.step import Step
    from levt.recipes.reproduce.framework.workplace import Workplace


def reproduce(
    names: Annotated[
        tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[NAME ...]", help_behavior_hint="")
    ] = (),
    scale: Literal["toy", "quick", "paper"] = "quick",
    data: Path = Path("data"),
    work: Path = Path("reproduce"),
    out: Maybe[Path] = None,
    seeds: Maybe[int] = None,
    tasks: Many[str] = (),
    budget_minutes: Maybe[float] = None,
    parallel: int = 1,
    keep_going: Flag = False,
    pack: Maybe[Path] = None,
    pack_mib: Maybe[float] = None,
    dry_run: Flag = False,
) -> None:
    """Reproduce tables and figures of the paper; without a name, list them.

    Example: levt reproduce table-1 roll-in --data data --budget-minutes 9 --parallel 4

    The work is a chain of steps (prepare, train, distil, decode, score, time). Each is done once: run the command
    again to go on after an interruption, and steps that two names share are shared. The page, its JSON and its
    plots are written to OUT; a text of your own in OUT/findings/NAME.md becomes part of the page.

    Args:
        names: What to reproduce; of several names all steps are one work.
        scale: toy: made-up sentences, seconds on a CPU; quick: small models, minutes on a GPU; paper: the paper's
            settings and corpora, days on several GPUs.
        data: Folder with the sets of texts, a folder each; what is missing is said before any work is done.
        work: Folder of the steps; it may be moved to another machine, and go on there.
        out: Folder of the pages; by default results/SCALE.
        seeds: Trainings of each model, averaged; by default 1, at quick scale 3 where less than one BLEU is claimed.
        tasks: Of table-1, which of ro-en, en-de, en-de-long, en-ja and summarisation; by default all but en-de-long.
            Of post-editing, -effort and -quality, which of theirs; by default all.
        budget_minutes: Begin no step that would end later than in so many minutes; with --dry-run, what would not fit.
        parallel: Steps side by side, in processes of their own, and as many light ones (decoding, scoring) beside them.
        keep_going: Where a step fails or lacks a package, do the others first.
        pack: Only write what was found, and what the rest needs, to this archive (.tar.xz, .tar.gz) to go on elsewhere.
        pack_mib: Most MiB of corpora and models in that archive (60); those that cost least are made again. 0: none.
        dry_run: Print the steps and how long each will take, and do nothing.
    """
    from levt.errors import ConfigError, MissingExtra
    from levt.recipes.reproduce import names as known
    from levt.recipes.reproduce import reproduction

    if not names:
        if (
            tasks
            or keep_going
            or dry_run
            or any(one is not None for one in (out, seeds, budget_minutes, pack))
        ):
            raise ConfigError(
                "what to reproduce is not named",
                hint="names come first, as in `levt reproduce table-1 --tasks en-de`; `levt reproduce` lists them",
            )
        with folded():
            for name in known():
                print(f"{name:<22} {reproduction(name).title}")
        return
    from levt.recipes.reproduce.framework.packing import pack as write_pack
    from levt.recipes.reproduce.framework.publish import check_place, publish
    from levt.recipes.reproduce.framework.runner import check_means, run_chain
    from levt.recipes.reproduce.framework.setting import CLOSE_CALLS, Setting
    from levt.recipes.reproduce.framework.step import check_files
    from levt.recipes.reproduce.framework.workplace import Workplace
    from levt.recipes.reproduce.parts.layout import LAYOUT
    from levt.recipes.reproduce.parts.packages import check_packages
    from levt.refine.ranges import Range

    check_means(parallel, budget_minutes)
    if pack_mib is not None and pack is None:
        raise ConfigError("--pack-mib is for an archive", hint="--pack FILE, or leave it out")
    if pack_mib is not None and (problem := Range(0, math.inf).problem(pack_mib, whole=False)):
        raise ConfigError(f"pack-mib {problem}", hint="60 is the default")
    if pack is not None and dry_run:
        raise ConfigError(
            "--pack writes an archive, which --dry-run does not", hint="leave out one of the two"
        )
    chosen = [reproduction(name) for name in dict.fromkeys(names)]
    if tasks and not any(one.by_task for one in chosen):
        some = ", ".join(name for name in known() if reproduction(name).by_task)
        raise ConfigError(
            f"--tasks is not for {chosen[0].name}, whose task is given",
            hint=f"leave it out; it is for {some}",
        )
    setting = Setting(
        scale=scale, data=data, seeds=1 if seeds is None else seeds,
        close_calls=CLOSE_CALLS[scale] if seeds is None else 1, tasks=tasks,
    )  # fmt: skip
    goals, place = [one.goal(setting) for one in chosen], Workplace(work)
    # Every model once before any is trained again: where time is short, pages of one seed can be made.
    once = [one.goal(replace(setting, seeds=1, close_calls=1)) for one in chosen]
    check_files(*goals, hint=LAYOUT[scale])
    if setting.seeds > 1 and [one.digest for one in goals] == [one.digest for one in once]:
        raise ConfigError(
            f"--seeds would do nothing: {', '.join(one.name for one in chosen)} "
            f"{'is' if len(chosen) == 1 else 'are'} of one training, that of seed 1",
            hint="leave it out",
        )
    if pack is not None:
        count = write_pack(place, pack, *goals, most=(60.0 if pack_mib is None else pack_mib) * 2**20)
        print(f"{pack}: {counted(count, 'file')}, {pack.stat().st_size / 2**20:.1f} MiB", file=sys.stderr)
        return
    try:
        check_packages(*goals)
    except MissingExtra as error:
        if not keep_going:
            raise
        print(f"steps that need it will be left: {error}", file=sys.stderr)
    if scale != "toy" and place.pending(*goals):
        say_what_times_are_of()
    if dry_run:
        print_plan(goals, place, parallel, budget_minutes, once)
        return
    pages = out or Path("results") / scale
    check_place(pages, *(one.name for one in chosen))
    with View(bars=parallel > 1) as view:
        outcome = run_chain(
            goals, place, view, parallel=parallel, minutes=budget_minutes, failed=view.failed if keep_going else None,
            first=once,
        )  # fmt: skip
    for one, goal in zip(chosen, goals, strict=True):
        if not place.pending(goal):
            print(f"{publish(one, goal, place, setting, pages)}", file=sys.stderr)
    if not outcome.complete:
        print(
            f"{counted(len(outcome.left), 'step')} left, about {_clock(outcome.seconds)}; "
            f"next: {outcome.left[0].label}\n"
            "hint: run the same command again to go on",
            file=sys.stderr,
        )
        if view.failures:
            raise SystemExit(1)


def say_what_times_are_of() -> None:
    """Where there is no GPU: that the estimates, and with them the budget, are those of a machine that has one."""
    import torch

    if not torch.cuda.is_available():
        print(
            "note: estimates are of one H200; no GPU was found here, where a training takes far longer",
            file=sys.stderr,
        )


def print_plan(
    goals: "Sequence[Step]",
    work: "Workplace",
    parallel: int,
    minutes: float | None = None,
    first: "Sequence[Step]" = (),
) -> None:
    """The steps of some chains, which of them are to be done, and how long that will take; or what fits into a time."""
    from levt.recipes.reproduce.framework.schedule import forecast
    from levt.recipes.reproduce.framework.step import chain

    to_do = work.pending(*goals)
    pending = {step.digest for step in to_do}
    steps = chain(*goals)
    width = max(len(step.label) for step in steps)
    for step in steps:
        state = (
            _clock(step.seconds) if step.digest in pending else "done" if work.stamp(step) else "not needed"
        )
        note = "  alone" if step.alone else "  light" if step.light else ""
        print(f"{step.label:<{width}}  {step.digest}  {state:>10}{note}")
    total = sum(step.seconds for step in to_do)
    said = f"{len(pending)} of {len(steps)} steps to do, about {_clock(total)} one after the other"
    sooner = {step.digest for step in chain(*first)}
    thought = forecast(to_do, parallel, math.inf if minutes is None else minutes, first=sooner)
    if parallel > 1:
        said += f", {_clock(thought.seconds)} with {parallel} at a time"
    if minutes is not None:
        said += f"; {len(thought.left)} do not fit into {_clock(60 * minutes)}"
        said += f", such as {thought.left[0].label}" if thought.left else ""
    print(said)


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
        self.failures = 0

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
        self._line(f"{counted(done, 'step')} done already, {len(steps)} to do, about {_clock(seconds)}")

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

    def failed(self, step: "Step", problem: "StepFailed") -> None:
        """Show that a step has failed; the others go on."""
        self.failures += 1
        self.bars.remove_task(self.tasks.pop(step.digest))
        self._line(f"failed: {problem}")

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
