"""How long does one real text take on a GPU? levt-en-de beside a Transformer of its teacher's size, in turns.

    python benchmarks/latency_texts.py multi30k=test_2016_flickr.en,test_2016_flickr.de europarl=test.en,test.de

One text at a time, from text to text, every system on the captured engine. The teacher is not part of levt. What a
network takes does not depend on its weights, but on its size and on how many tokens it writes, so one of the teacher's
size with random weights is made to write as many tokens as LevT wrote for the same text. Its own texts mean nothing;
what the teacher's are worth, and LevT's on whole test sets, is in results/bundled_h200_202611.md.
"""

import argparse
import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

import levt
from levt.engine.batching import Budget
from levt.engine.cuda_engine import CudaSearchEngine
from levt.engine.model import Model, load
from levt.evaluation.metrics import bleu
from levt.policy.autoregressive import Autoregressive
from levt.policy.build import build
from levt.policy.config import AutoregressiveConfig

AR = "Transformer of that size"
PAPER = {"reread": False}
"""Algorithm 2 as it stands: what was written is not read again from its usual tokens."""


def rival(student: Model, device: str, dtype: torch.dtype) -> Model:
    """A model from left to right with the student's size and subwords, and random weights."""
    config = student.engine.config
    fields = {field.name for field in dataclasses.fields(AutoregressiveConfig)}
    settings = {name: value for name, value in vars(config).items() if name in fields}
    network = build(AutoregressiveConfig(**settings)).eval().to(device, dtype)
    assert isinstance(network, Autoregressive)
    return Model(CudaSearchEngine(network, student.engine.tokenizers), Budget(rows=1))


def line(name: str, times: Sequence[float], mean: float, more: str) -> str:
    """A row of the table."""
    ranked = sorted(times)
    p50, p95, p99 = (ranked[int(len(ranked) * share)] for share in (0.5, 0.95, 0.99))
    own = sum(times) / len(times)
    return f"| {name} | {own:.2f} | {p50:.2f} / {p95:.2f} / {p99:.2f} | ×{mean / own:.2f} | {more} |"


def measure(student: Model, teacher: Model, sources: list[str], references: list[str], rounds: int) -> None:
    """Print the table of one set of texts."""
    written = [student.translate(text, **PAPER) for text in sources]
    lengths = [len(student.engine.tokenizers.target.encode(result.text)) for result in written]

    def force(beam: int) -> Callable[[int], Any]:
        # The longest output, </s> and <s> counted; random weights hardly ever end before.
        return lambda i: teacher.translate(
            sources[i], beam=beam, length_penalty=0.0, max_ratio=0.01, min_room=lengths[i] + 2
        )

    calls: dict[str, Callable[[int], Any]] = {
        "levt-en-de, Algorithm 2": lambda i: student.translate(sources[i], **PAPER),
        "levt-en-de, as by default": lambda i: student.translate(sources[i]),
        f"{AR}, greedy": force(1),
        f"{AR}, beam 4": force(4),
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    passes = dict.fromkeys(calls, 0)
    for counted in (False, *[True] * rounds):  # graphs are captured in the first, uncounted round
        for i in range(len(sources)):
            for name, call in calls.items():
                began = time.perf_counter()
                result = call(i)
                if counted:
                    taken[name].append(1e3 * (time.perf_counter() - began))
                else:
                    passes[name] += result.passes
    beam = taken[f"{AR}, beam 4"]
    mean = sum(beam) / len(beam)
    score = bleu([result.text for result in written], references)
    iterations = sum(result.iterations for result in written) / len(written)
    length = sum(lengths) / len(lengths)
    print(
        f"LevT: {length:.1f} tokens, {iterations:.2f} iterations, BLEU {score.value:.1f} ({score.signature})\n"
    )
    print("| system | mean ms | p50 / p95 / p99 | speed | passes |\n|:---|---:|---:|---:|---:|")
    for name, times in taken.items():
        print(line(name, times, mean, f"{passes[name] / len(sources):.2f}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="+", help="NAME=SOURCES,REFERENCES")
    parser.add_argument("--model", default="levt-en-de")
    parser.add_argument("--texts", type=int, default=200, help="the first of each set")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    engine = "cuda" if device == "cuda" else "torch"
    student = load(given.model, engine=engine, budget=Budget(rows=1))
    teacher = rival(student, device, dtype)
    where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"levt {levt.__version__}, torch {torch.__version__}, {where}, {dtype}, engine {engine}")
    for one in given.sets:
        name, _, paths = one.partition("=")
        lines = [
            Path(path).read_text("utf-8").splitlines()[: given.texts] for path in paths.split(",", maxsplit=1)
        ]
        print(f"\n{name}: {len(lines[0])} texts, {given.rounds} rounds\n")
        measure(student, teacher, *lines, given.rounds)


if __name__ == "__main__":
    main()
