"""Commands in processes of their own, which can be killed; a toy corpus and recipes for them."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora

RECIPES = '''
from pathlib import Path

from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.recipes.experiment import UNKNOWN, Experiment
from levt.training.config import TrainingConfig

TINY = dict(source_vocabulary=UNKNOWN, target_vocabulary=UNKNOWN, width=16, hidden=32, heads=2,
            encoder_layers=1, decoder_layers=1, max_length=64, dropout=0.1)
TRAINING = TrainingConfig(tokens=256, max_steps=30, warmup=4, learning_rate=0.01, validate_every=10,
                          save_every=3, log_every=1, ema=0.9, schedule="cosine")


def ar() -> Experiment:
    """A toy teacher."""
    return Experiment(corpus=Path("corpus"), out=Path("ar"), model=AutoregressiveConfig(**TINY),
                      training=TRAINING, device="cpu")


def levt() -> Experiment:
    """A toy LevT."""
    return Experiment(corpus=Path("corpus"), out=Path("levt"), model=LevTConfig(**TINY, max_count=20),
                      training=TRAINING, device="cpu")
'''


def toy(folder: Path) -> Path:
    """A folder with a prepared corpus ``corpus`` and the recipes ``toy.py``."""
    rng = random.Random(0)
    files: dict[str, list[Path]] = {}
    for split, count in (("train", 80), ("dev", 5), ("test", 5)):
        lines = [
            " ".join(rng.choice(["one", "two", "three", "four", "five", "six"]) for _ in range(5))
            for _ in range(count)
        ]
        files[split] = [folder / f"{split}.src", folder / f"{split}.tgt"]
        files[split][0].write_text("\n".join(lines) + "\n", encoding="utf-8")
        files[split][1].write_text("\n".join(line.upper() for line in lines) + "\n", encoding="utf-8")
    splits = {name: corpora(paths) for name, paths in files.items()}
    prepare(folder / "corpus", splits, Preparation(vocabulary=300))
    (folder / "toy.py").write_text(RECIPES, encoding="utf-8")
    return folder


def start(folder: Path, *command: str, processes: int = 1, restarts: int = 0) -> subprocess.Popen[str]:
    """A command of levt in a process group of its own, with one thread; by torchrun if in several processes."""
    several = f"-m torch.distributed.run --standalone --nproc-per-node {processes} --max-restarts {restarts}"
    torchrun = several.split()
    return subprocess.Popen(
        [sys.executable, *(torchrun if processes > 1 else []), "-m", "levt", *command],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[str], timeout: float = 180) -> str:
    """Wait for a command to end well; what it said."""
    try:
        _, said = process.communicate(timeout=timeout)
    finally:
        kill(process)
    assert process.returncode == 0, said
    return said


def kill(process: subprocess.Popen[str]) -> None:
    """Send kill -9 to a command and all its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def wait_for(process: subprocess.Popen[str], reached: Callable[[], bool], timeout: float = 120) -> bool:
    """Look again and again until something is reached, or the command has ended before."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if reached():
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.005)
    kill(process)
    raise AssertionError("nothing happened")
