"""Steps that wait for an end that never comes: for runners that are killed."""

import multiprocessing
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor

from levt.data.children import end_with_the_parent
from levt.recipes.reproduce.framework.runner import StepStopped
from levt.recipes.reproduce.framework.step import Job

LONG = 100.0
"""Seconds that nobody wants to wait."""


def waits(job: Job) -> None:
    """Note the process, and wait."""
    (job.out / "pid").write_text(str(os.getpid()))
    time.sleep(LONG)


def has_helpers(job: Job) -> None:
    """Note the processes of a pool and their parent, and wait for the pool."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=end_with_the_parent) as pool:
        helper = pool.submit(os.getpid).result()
        (job.out / "pid").write_text(f"{os.getpid()} {helper}")
        pool.submit(time.sleep, LONG).result()


def trains(job: Job) -> None:
    """Hear signals as a training does: a second one of the same kind does not wait."""
    heard: list[int] = []

    def ask(number: int, _: object) -> None:
        if number in heard:
            raise KeyboardInterrupt
        heard.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    (job.out / "pid").write_text(str(os.getpid()))
    end = time.monotonic() + LONG
    while not heard and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.5)  # what is being done is brought to an end
    (job.out / "checkpoint").write_text("whole")
    raise StepStopped("it was stopped")
