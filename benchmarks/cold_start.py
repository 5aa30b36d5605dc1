"""How long until the first sentence? Import, load and first translation, every engine in a process of its own.

    python benchmarks/cold_start.py                       # random weights of base size
    python benchmarks/cold_start.py MODEL --engines torch onnx-int8 native --rounds 5
        --results benchmarks/results/cold_start_2core_202611.md         # appends the table there

The graphs of the ONNX engines and the library of the engine native are made beforehand, as they are on every start but
the first; what making them takes is printed, too. Each row is the median of the rounds, engines in turns.
"""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from statistics import median

import levt
from cpu import processor, random_model
from levt.engine.onnx_sessions import thread_count

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
    parser.add_argument("--engines", nargs="+", default=["torch", "onnx", "onnx-int8", "native"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--text", default=None)
    parser.add_argument("--results", type=Path, help="append the table to this file")
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
    import onnxruntime
    import torch

    report = [
        f"## {date.today().isoformat()}",
        "",
        f"`{shlex.join(['python', *sys.argv])}`",
        "",
        f"{processor()}, {thread_count()} cores; load {os.getloadavg()[0]:.1f} at the end; Python "
        f"{platform.python_version()}, levt {levt.__version__}, torch {torch.__version__}, onnxruntime "
        f"{onnxruntime.__version__}; {given.model or 'random weights of base size'}; medians of {given.rounds} starts.",
        "",
        f"| engine | {' | '.join(COLUMNS)} | first load ever s |",
        "|---" * (len(COLUMNS) + 2) + "|",
    ]
    for engine in given.engines:
        columns = [median(found[engine][i] for found in rounds) for i in range(len(COLUMNS))]
        cells = [f"{value:.0f}" if value > 50 else f"{value:.3f}" for value in columns]
        report.append(f"| {engine} | {' | '.join(cells)} | {writing[engine]:.2f} |")
    print("\n".join(report))
    if given.results is not None:
        with given.results.open("a", encoding="utf-8") as file:
            file.write("\n".join(["", *report, ""]))


if __name__ == "__main__":
    main()
