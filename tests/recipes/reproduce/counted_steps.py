"""Steps that note every time they are done: for chains without a model."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from levt.errors import InputError
from levt.recipes.reproduce.framework.report import Report, Section, Table
from levt.recipes.reproduce.framework.runner import StepStopped, Watch
from levt.recipes.reproduce.framework.step import Job, Step


def work(job: Job) -> None:
    """Note the time, join what the inputs hold, and wait as long as told."""
    diary = Path(job.config["diary"])
    with diary.open("a", encoding="utf-8") as file:
        file.write(f"{job.label} began\n")
    if fails := job.config.get("fails"):
        kind = StepStopped if fails == "stopped" else InputError
        raise kind("this cannot be done", hint="do something else")
    if job.config.get("breaks"):
        raise RuntimeError("this was not thought of")
    (job.out / "half").write_text("half", encoding="utf-8")
    time.sleep(job.config.get("wait", 0.0))
    if other := job.config.get("awaits"):
        end = time.monotonic() + 100
        while f"{other} ended" not in diary.read_text("utf-8") and time.monotonic() < end:
            time.sleep(0.05)
    read = [
        (path / "text").read_text("utf-8") if path.is_dir() else path.read_text("utf-8").strip()
        for _, path in sorted(job.inputs.items())
    ]
    (job.out / "text").write_text(f"{job.config['says']}({','.join(read)})", encoding="utf-8")
    with diary.open("a", encoding="utf-8") as file:
        file.write(f"{job.label} ended\n")


def last(job: Job) -> None:
    """A report of one cell."""
    text = (job.inputs["text"] / "text").read_text("utf-8")
    table = Table(columns=["what", "number"], rows=[[text, 1.25], ["nothing", None]])
    Report(sections=[Section(heading="All", text="As found.", table=table)], signatures=["sig:1"]).write(
        job.out
    )


def step(diary: Path, label: str, inputs: Mapping[str, Step | Path] | None = None, **fields: Any) -> Step:
    """A step that says its label."""
    known = {
        name: fields.pop(name) for name in ("wait", "awaits", "fails", "breaks", "says") if name in fields
    }
    config = {"diary": str(diary), "says": label, **known}
    return Step(label=label, run=work, inputs=inputs or {}, config=config, **{"seconds": 0.1, **fields})


def began(diary: Path) -> list[str]:
    """The steps that were begun, in order."""
    lines = diary.read_text("utf-8").splitlines() if diary.exists() else []
    return [line.split()[0] for line in lines if line.endswith("began")]


class Quiet(Watch):
    """Hears nothing."""


def diamond(diary: Path, *, left: str = "left", file: Path | None = None) -> Step:
    """A first step, two that read it, and the goal; the first may read a file."""
    first = step(diary, "first", {} if file is None else {"file": file})
    sides = {"a": step(diary, "left", {"x": first}, says=left), "b": step(diary, "right", {"x": first})}
    return step(diary, "goal", sides)
