"""Workplace: the folder where steps are done and kept. It can be moved, and be thinned out to what is still needed.

    WORK/LABEL-DIGEST/             a finished step: what its function wrote, and ``step.json``
    WORK/.LABEL-DIGEST.partial/    one that is being done, or was interrupted
    WORK/.locks/DIGEST             held while it is done: a second command waits and then finds it finished

A finished step is written beside, synced and renamed: it is whole, or not there. ``step.json`` lists its files; where
one of them is gone (to carry only small files elsewhere, say) the step counts as done as long as nobody needs them.
"""

import json
import platform
import shutil
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from levt.data.folder import sync, sync_one
from levt.recipes.reproduce.framework.provenance import surroundings
from levt.recipes.reproduce.framework.step import Job, Step, chain
from levt.recipes.shards import held, write_whole

STAMP = "step.json"
SETTINGS = "settings.json"
"""A file that a step may leave: all its settings, those by default too; they become part of its provenance."""


class Workplace:
    """The folder of all steps of all chains."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, step: Step) -> Path:
        """The folder of a step, finished or not; one that was called otherwise is found too."""
        known = sorted(self.folder.glob(f"[!.]*-{step.digest}")) if self.folder.is_dir() else []
        return known[0] if known else self.folder / f"{step.label}-{step.digest}"

    def stamp(self, step: Step) -> dict[str, Any] | None:
        """What a finished step says of itself."""
        try:
            known: dict[str, Any] = json.loads((self.place(step) / STAMP).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return known if known.get("digest") == step.digest else None

    def done(self, step: Step, parts: Sequence[str] = ("*",)) -> bool:
        """Whether a step is finished and all that it wrote is there, or those files that match a pattern."""
        stamp, place = self.stamp(step), self.place(step)
        return stamp is not None and all(
            (path := place / name).is_file() and path.stat().st_size == size
            for name, size in stamp["files"].items()
            if any(fnmatchcase(name, pattern) for pattern in parts)
        )

    def pending(self, *goals: Step) -> list[Step]:
        """The steps that have to be done for some goals, in order; none where they are done."""
        found: set[str] = set()

        def visit(step: Step, parts: Sequence[str] = ("*",)) -> None:
            if step.digest not in found and not self.done(step, parts):
                for name, one in step.steps.items():
                    visit(one, step.parts.get(name, ("*",)))
                found.add(step.digest)

        for goal in goals:
            visit(goal)
        return [step for step in chain(*goals) if step.digest in found]

    def job(self, step: Step) -> Job:
        """What the function of a step is given."""
        inputs = {
            name: self.place(one) if isinstance(one, Step) else one for name, one in step.inputs.items()
        }
        config = json.loads(json.dumps(dict(step.config)))
        return Job(label=step.label, inputs=inputs, config=config, out=self._partial(step))

    def do(self, step: Step, job: Job) -> None:
        """Do a step here and now, unless somebody else has done it meanwhile."""
        locks = self.folder / ".locks"
        locks.mkdir(parents=True, exist_ok=True)
        with held(locks / step.digest, wait=True):
            if self.done(step):
                return
            if not step.resumes:
                shutil.rmtree(job.out, ignore_errors=True)
            job.out.mkdir(parents=True, exist_ok=True)
            began, clock = time.time(), time.perf_counter()
            step.run(job)
            self._finish(step, job.out, began=began, seconds=time.perf_counter() - clock)

    def _partial(self, step: Step) -> Path:
        known = sorted(self.folder.glob(f".*-{step.digest}.partial")) if self.folder.is_dir() else []
        return known[0] if known else self.folder / f".{step.label}-{step.digest}.partial"

    def _finish(self, step: Step, written: Path, *, began: float, seconds: float) -> None:
        files = {
            path.relative_to(written).as_posix(): path.stat().st_size
            for path in sorted(written.rglob("*"))
            if path.is_file() and path.name != STAMP
        }
        stamp = {
            "label": step.label,
            "digest": step.digest,
            "function": step.function,
            "version": step.version,
            "config": dict(step.config),
            "inputs": step.read,
            "data": {
                name: {"file": "/".join(path.parts[-2:]), "sha256": step.checksums[name]}
                for name, path in step.files.items()
            },
            "files": files,
            "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
            "seconds": round(seconds, 2),
            "where": {**surroundings(), "system": platform.system()},
        }
        if (written / SETTINGS).is_file():
            stamp["settings"] = json.loads((written / SETTINGS).read_text("utf-8"))
        write_whole(written / STAMP, stamp, indent=1)
        sync(written)
        place = self.folder / f"{step.label}-{step.digest}"
        for old in self.folder.glob(f"[!.]*-{step.digest}"):  # done before, and thinned out since
            shutil.rmtree(old)
        written.replace(place)
        sync_one(self.folder)
