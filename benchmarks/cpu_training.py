"""What does padding cost a training on a CPU? The same steps with rows padded to the longest, and in groups by length.

    levt prepare --train train.en train.de --vocabulary 8000 --max-length 128 --out corpus
    python benchmarks/cpu_training.py corpus
    python benchmarks/cpu_training.py corpus --tokens 2048 --width 256 --steps 4

One thread; both ways take turns and learn from the same batches, so their losses are printed beside the times.
"""

import argparse
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from levt.data.batches import Batches
from levt.data.order import Order
from levt.data.pack import Packed
from levt.data.store import Store
from levt.imitation.lessons import LevTLessons
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.policy.attention import PackedPattern
from levt.policy.build import build
from levt.policy.config import LevTConfig
from levt.text.tokenizer import Tokenizer
from levt.training.config import TrainingConfig
from levt.training.feed import Feed, Position
from levt.training.parallel import World
from levt.training.stepper import Stepper
from levt.training.weights import FlatWeights


def padded(pattern: PackedPattern, q: Tensor, k: Tensor, v: Tensor, **fields: Any) -> Tensor:
    """All rows as long as the longest of the corpus."""
    return pattern.by_padding(q, k, v, **fields)


def measure(corpus: Path, tokens: int, width: int, steps: int) -> tuple[float, list[float]]:
    """Processor seconds a step, and the mean losses of these steps."""
    store, vocabulary = Store.open(corpus / "train"), Tokenizer.load(corpus / "tokenizer.json").size
    budget, options = Packed.fitting(store, target=tokens), TrainingConfig(tokens=tokens)
    torch.manual_seed(0)
    config = LevTConfig(
        source_vocabulary=vocabulary, target_vocabulary=vocabulary, width=width, hidden=4 * width, heads=4,
        encoder_layers=3, decoder_layers=3, norm="pre",
    )  # fmt: skip
    model = build(config)
    lessons = LevTLessons(store, budget, model, roll_in=RollIn(), objective=ObjectiveConfig())
    objective = lessons.objective(model)
    weights = FlatWeights(model, options, torch.float32)
    with Feed(lessons, Batches(store, budget, order=Order(seed=1)), seed=1, start=Position()) as feed:
        stepper = Stepper(objective, weights, feed.sizes, len(lessons.names), options, World())
        stepper.step(1, 1e-3, [feed.next()])
        stepper.read()
        decisions, began = torch.zeros(len(lessons.names)), time.process_time()
        for number in range(steps):
            stepper.step(2 + number, 1e-3, [feed.next()])
            decisions += stepper.decisions
        seconds = (time.process_time() - began) / steps
        return seconds, (stepper.read() / decisions).tolist()


def main() -> None:
    """Take turns, and print the table last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    times: dict[str, list[float]] = {"padded": [], "groups": []}
    losses = {}
    for _ in range(given.rounds):
        for name, seconds in times.items():
            with patch.object(PackedPattern, "attend", padded if name == "padded" else PackedPattern.attend):
                took, losses[name] = measure(given.corpus, given.tokens, given.width, given.steps)
            seconds.append(took)
    store = Store.open(given.corpus / "train")
    mean, longest = store.tokens("target") / len(store), store.longest("target")
    print(
        f"\ntorch {torch.__version__}, one thread; targets of {mean:.1f} tokens, the longest {longest};"
        f" {given.tokens} tokens a step, width {given.width}"
    )
    print("| rows | ms a step | losses |\n|---|---|---|")
    for name, seconds in times.items():
        said = " / ".join(f"{loss:.3f}" for loss in losses[name])
        print(f"| {name} | {min(seconds) * 1e3:.0f}–{max(seconds) * 1e3:.0f} | {said} |")
    print(f"\nin groups {min(times['padded']) / min(times['groups']):.2f} times as fast")


if __name__ == "__main__":
    main()
