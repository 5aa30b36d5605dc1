"""How fast does training go? Target tokens per second, padding not counted, on a prepared corpus.

    levt prepare --train train.en train.de --vocabulary 32000 --out corpus
    python benchmarks/training.py corpus                     # on a GPU: base and small, LevT and AR
    python benchmarks/training.py corpus --only small-levt --steps 20

The reference implementation measured on one H200 (fp16; its numbers cannot be re-run beside ours, because it
no longer installs): base LevT 196k and AR 390k tokens/s at about 48k tokens a step, small LevT about 100k at 12k.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from levt.data.batches import Batches
from levt.data.order import Order
from levt.data.pack import Packed
from levt.data.store import Store
from levt.imitation.lessons import Lessons, LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.imitation.teacher_forcing import TeacherForcingLessons
from levt.policy.build import build
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.text.tokenizer import Tokenizer
from levt.training.config import TrainingConfig
from levt.training.feed import Feed, Position
from levt.training.parallel import World
from levt.training.stepper import Stepper
from levt.training.weights import FlatWeights

SIZES = {
    "base": {"width": 512, "hidden": 2048, "heads": 8, "encoder_layers": 6, "decoder_layers": 6},
    "small": {"width": 256, "hidden": 1024, "heads": 4, "encoder_layers": 6, "decoder_layers": 6},
    "tiny": {"width": 64, "hidden": 128, "heads": 2, "encoder_layers": 1, "decoder_layers": 1},
}
TOKENS = {"base": 48 * 1024, "small": 12 * 1024, "tiny": 2048}


@dataclass(frozen=True)
class Measured:
    """One line of the table."""

    name: str
    tokens_per_step: float
    tokens_per_second: float
    step_ms: float
    idle: float
    start_s: float
    memory_gb: float


def measure(name: str, corpus: Path, steps: int, options: TrainingConfig) -> Measured:
    """Train ``steps`` steps after a warm-up and look at the clock and at the device."""
    size, kind = name.split("-")
    began = time.perf_counter()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vocabulary = Tokenizer.load(corpus / "tokenizer.json").size
    store = Store.open(corpus / "train")
    budget = Packed.fitting(store, target=options.tokens)
    torch.manual_seed(0)
    shape = {"source_vocabulary": vocabulary, "target_vocabulary": vocabulary, **SIZES[size]}
    lessons: Lessons
    if kind == "levt":
        model = build(LevTConfig(**shape)).to(device)
        lessons = LevTLessons(store, budget, model, roll_in=RollIn(), objective=ObjectiveConfig())
    else:
        model = build(AutoregressiveConfig(**shape)).to(device)
        lessons = TeacherForcingLessons(store, budget, smoothing=0.1, reads_draft=False)
    objective = lessons.objective(model).to(device)
    weights = FlatWeights(model, options, torch.bfloat16 if device.type == "cuda" else torch.float32)
    batches = Batches(store, budget, order=Order(seed=1))
    with Feed(lessons, batches, seed=1, start=Position()) as feed:
        stepper = Stepper(objective, weights, feed.sizes, len(lessons.names), options, World())

        def run(count: int, first: int) -> int:
            tokens = 0
            for number in range(count):
                micro = feed.next()
                tokens += micro.tokens
                stepper.step(first + number, 1e-4, [micro])
            if device.type == "cuda":
                torch.cuda.synchronize()
            return tokens

        run(3, 1)
        start_s = time.perf_counter() - began
        run(10, 10)
        start = time.perf_counter()
        tokens = run(steps, 100)
        seconds = time.perf_counter() - start
        idle = float("nan")
        if device.type == "cuda":
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                torch.cuda.synchronize()
                window = time.perf_counter()
                run(10, 500)
                window = time.perf_counter() - window
            busy = sum(e.device_time_total for e in profile.key_averages()) * 1e-6
            idle = max(0.0, 1 - busy / window)
            for event in sorted(profile.key_averages(), key=lambda e: -e.device_time_total)[:14]:
                print(
                    f"    {event.device_time_total / 1e4:8.2f} ms/step  {event.count // 10:5d}×  {event.key[:90]}"
                )
        losses = (stepper.read() / stepper.decisions.cpu()).tolist()
    print(f"  {name}: losses of the last batches {[round(v, 2) for v in losses]}", flush=True)
    peak = torch.cuda.max_memory_allocated() / 1e9 if device.type == "cuda" else float("nan")
    return Measured(name, tokens / steps, tokens / seconds, seconds / steps * 1e3, idle, start_s, peak)


def main() -> None:
    """Measure and print the table last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--only", nargs="*", default=["base-levt", "base-ar", "small-levt", "small-ar"])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--no-compile", action="store_true")
    given = parser.parse_args()
    rows = []
    for name in given.only:
        config = TrainingConfig(
            tokens=TOKENS[name.split("-")[0]], compile=False if given.no_compile else None, clip=1.0
        )
        rows.append(measure(name, given.corpus, given.steps, config))
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            torch._dynamo.reset()
    hardware = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    print(f"\ntorch {torch.__version__}, {hardware}, compile {not given.no_compile}")
    print("| model | tokens/step | tokens/s | ms/step | GPU idle | start-up s | peak GB |")
    print("|---|---|---|---|---|---|---|")
    for m in rows:
        print(
            f"| {m.name} | {m.tokens_per_step:,.0f} | {m.tokens_per_second:,.0f} | {m.step_ms:.1f} "
            f"| {m.idle:.1%} | {m.start_s:.0f} | {m.memory_gb:.1f} |"
        )


if __name__ == "__main__":
    main()
