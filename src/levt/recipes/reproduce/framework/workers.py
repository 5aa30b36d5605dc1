"""Processes that do steps side by side. Knows no order of steps.

A process does many steps one after the other, so that torch is imported once; one that resumes (a training) gets a
fresh process and ends it: whatever it compiled and captured goes with it.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from levt.recipes.reproduce.framework.step import Step
from levt.recipes.reproduce.framework.workplace import Workplace

PATIENCE = 60.0
"""Seconds that a step has to come to a clean end when it is asked to stop."""


class Worker:
    """A process that does one step at a time."""

    def __init__(self, log: Path, *, threads: int) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("ab") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "levt.recipes.reproduce.framework.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env={"OMP_NUM_THREADS": str(threads), **os.environ, "PYTHONUNBUFFERED": "1"},
            )
        assert self.process.stdout is not None
        self.answers = selectors.DefaultSelector()
        self.answers.register(self.process.stdout, selectors.EVENT_READ)

    def order(self, order: dict[str, Any]) -> None:
        """Let it do a step."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died; the next look will say so
            self.process.stdin.write((json.dumps(order) + "\n").encode())
            self.process.stdin.flush()

    def answer(self) -> dict[str, Any] | None:
        """What it says of its step; None while it is at work."""
        assert self.process.stdout is not None
        if not self.answers.select(timeout=0):
            return None
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            return {"message": f"its process ended with status {status}", "hint": f"see {self.log}"}
        known: dict[str, Any] = json.loads(line)
        return known

    def last_line(self) -> str:
        """The last thing it said."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, self.log.stat().st_size - 2000))
                lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def stop(self) -> None:
        """Ask it to stop, with a checkpoint of what it is doing; waits for nothing."""
        if self.process.poll() is None:
            self.process.terminate()

    def end(self) -> None:
        """Let it go: it has nothing to do, or was asked to stop."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.answers.close()
        self.process.stdout.close()


class Workers:
    """As many workers as are needed; use it in a ``with``, which a SIGTERM ends as Ctrl-C does: no worker goes on."""

    def __init__(self, work: Workplace, *, parallel: int) -> None:
        self.work = work
        # Threads of many processes that wait for each other are slower than few.
        self.threads = max(1, (os.cpu_count() or 1) // parallel)
        self.idle: list[Worker] = []
        self.busy: dict[Step, Worker] = {}
        self.number = 0
        self.before: Any = None

    def __enter__(self) -> "Workers":
        with contextlib.suppress(ValueError):  # not in the main thread: the caller has the signals
            self.before = signal.signal(signal.SIGTERM, _leave)
        return self

    def __exit__(self, *problem: object) -> None:
        # All are asked before any is waited for: together they need as long as the slowest.
        for worker in self.busy.values():
            worker.stop()
        for worker in (*self.busy.values(), *self.idle):
            worker.end()
        if self.before is not None:
            signal.signal(signal.SIGTERM, self.before)

    def start(self, step: Step) -> None:
        """Begin a step."""
        if self.idle and not step.resumes:
            worker = self.idle.pop()
        else:
            self.number += 1
            worker = Worker(
                self.work.folder / ".logs" / f"{os.getpid()}-{self.number}.log", threads=self.threads
            )
        worker.order(order_of(step, self.work))
        self.busy[step] = worker

    def look(self, step: Step) -> dict[str, Any] | None:
        """The answer of a step that is over: empty where all went well; None while it runs."""
        worker = self.busy[step]
        answer = worker.answer()
        if answer is not None:
            del self.busy[step]
            if step.resumes or answer:
                worker.end()
            else:
                self.idle.append(worker)
        return answer


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def order_of(step: Step, work: Workplace) -> dict[str, Any]:
    """A step as JSON values."""
    job = work.job(step)
    return {
        "work": str(work.folder),
        "label": step.label,
        "function": step.function,
        "version": step.version,
        "config": dict(step.config),
        "read": step.read,
        "files": {name: str(path) for name, path in step.files.items()},
        "checksums": step.checksums,
        "digest": step.digest,
        "inputs": {name: str(path) for name, path in job.inputs.items()},
        "out": str(job.out),
        "resumes": step.resumes,
    }
