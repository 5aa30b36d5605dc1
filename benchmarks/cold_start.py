"""How long until the first sentence? Import, load and first translation, every engine in a process of its own.

    python benchmarks/cold_start.py                       # random weights of base size
    python benchmarks/cold_start.py MODEL --engines torch onnx-int8 --rounds 5

The graphs of the ONNX engines are written beforehand, as they are on every start but the first; what writing them
takes is printed, too. Each row is the median of the rounds, engines in turns.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from cpu import random_model

CHILD = """
import json, sys, time
began = time.perf_counter()
import levt
levt.load
imported = time.perf_counter()
model = levt.load(sys.argv[1], engine=sys.argv[2], device="cpu")
loaded = time.perf_counter()
model.translate(sys.argv[3], **json.loads(sys.argv[4]))
first = time.perf_counter()
model.translate(sys.argv[3], **json.loads(sys.argv[4]))
second = time.perf_counter()
import resource
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([imported - began, loaded - imported, first - loaded, second - first, first - began, peak]))
"""
COLUMNS = ("import s", "load s", "first text s", "second text s", "until the first text s", "peak memory MB")


def start(model: Path, engine: str, text: str, settings: dict[str, object]) -> list[float]:
    """One start in a fresh process."""
    command = [sys.executable, "-c", CHILD, str(model), engine, text, json.dumps(settings)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure and print the table last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path, nargs="?")
    parser.add_argument("--engines", nargs="+", default=["torch", "onnx", "onnx-int8"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--text", default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_CACHE_HOME"] = temporary
        model, text, settings = given.model, given.text or "The ferry leaves at nine.", {}
        if model is None:
            from levt.policy.config import LevTConfig

            size = 32000
            config = LevTConfig(source_vocabulary=size, target_vocabulary=size)
            model = random_model(Path(temporary) / "model", config, size)
            text = given.text or " ".join(f"w{i}" for i in range(100, 126))
            settings = {"max_iterations": 1, "max_ratio": 1.0}
        writing = {engine: start(model, engine, text, settings)[1] for engine in given.engines}
        rounds = [
            {engine: start(model, engine, text, settings) for engine in given.engines}
            for _ in range(given.rounds)
        ]
    print(f"load average {os.getloadavg()[0]:.1f}; {given.rounds} rounds, medians\n")
    print(f"| engine | {' | '.join(COLUMNS)} | first load ever s |")
    print("|---" * (len(COLUMNS) + 2) + "|")
    for engine in given.engines:
        columns = [median(found[engine][i] for found in rounds) for i in range(len(COLUMNS))]
        cells = [f"{value:.0f}" if value > 50 else f"{value:.2f}" for value in columns]
        print(f"| {engine} | {' | '.join(cells)} | {writing[engine]:.2f} |")


if __name__ == "__main__":
    main()
