"""What the tests of faults have in common: text, a tiny model, commands that can be killed, small disks."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from levt.cli import main
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from tiny_models import TOKENIZERS, save_tiny
from warm_processes import begin

WORDS = ["dog", "cat", "snow", "stone", "runs", "sleeps", "over", "warm", "two", "the"]


def write_lines(path: Path, count: int, seed: int = 0) -> Path:
    """A file of so many lines of a few words."""
    rng = random.Random(seed)
    lines = [" ".join(rng.choices(WORDS, k=rng.randint(1, 6))) for _ in range(count)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def corpus(folder: Path, count: int = 60) -> Path:
    """A prepared corpus in the vocabulary of the tiny models."""
    files = [write_lines(folder / f"corpus.{side}", count, seed) for seed, side in enumerate(("en", "de"))]
    prepare(folder / "corpus", {"train": corpora(files)}, Preparation(), tokenizer=TOKENIZERS.target)
    return folder / "corpus"


def distillation(folder: Path, examples: int, shard: int) -> list[str]:
    """A command that has a tiny teacher rewrite so many examples, some at a time; the name of the output is missing."""
    teacher = save_tiny(folder / "teacher", "autoregressive", max_length=32)
    settings = f"--shard {shard} --beam 1 --device cpu --out"
    return ["distill", str(teacher), str(corpus(folder, examples)), *settings.split()]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def command(argv: list[str], log: Path, *, leads: bool = True) -> None:
    """A command line, as the work of a process of its own; what it says goes to a file."""
    if leads:
        os.setsid()
    with log.open("ab", buffering=0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stderr = os.fdopen(os.dup(2), "w", encoding="utf-8", buffering=1)
    main(argv)


def kill(process: ForkServerProcess) -> None:
    """Send kill -9 to a process and whatever it has started."""
    assert process.pid is not None
    for end in (os.killpg, os.kill):  # before it leads a group there is only itself
        with contextlib.suppress(ProcessLookupError):
            end(process.pid, signal.SIGKILL)
    process.join()


def killed_at_random(
    argv: list[str], log: Path, *, times: int, begun: Callable[[], bool], spread: float
) -> int:
    """Run a command again and again, each time killed up to ``spread`` seconds after it has ``begun``.

    How many were really killed: one that is too quick ends by itself.
    """
    rng = random.Random()
    killed = 0
    for _ in range(times):
        process = begin(command, argv, log)
        end = time.monotonic() + 120
        while not begun() and process.is_alive() and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, spread))
        killed += process.is_alive()
        kill(process)
    return killed


@contextlib.contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    """A file system of its own in a folder, of a size or read-only; skipped, by name, where that is not allowed."""
    folder.mkdir()
    call = ["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)]
    try:
        done = subprocess.run(call, capture_output=True, check=False).returncode == 0
    except OSError:
        done = False
    if not done:
        pytest.skip("a small or read-only disk needs the right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says that ends with status 2: an error and a hint, no traceback."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "Traceback" not in said
    return said
