"""How fast is a corpus prepared, in how much memory, and how much of the batches is padding?

    python benchmarks/prepare.py --train train.en train.de --vocabulary 32000
    python benchmarks/prepare.py --synthetic 1000000

The peak memory is that of the whole process up to the line where it stands.
"""

import os
import platform
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import tokenizers
import tyro

from levt.data.batches import Batches, padding_share
from levt.data.pack import Packed
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.data.store import Store


def peak() -> str:
    """The most memory so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB"


def invent(folder: Path, pairs: int) -> tuple[Path, Path]:
    """Two files of made-up words with the frequencies and sentence lengths of natural text."""
    rng = np.random.default_rng(0)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    words = np.array(["".join(rng.choice(syllables, rng.integers(1, 5))) for _ in range(50_000)])
    paths = folder / "invented.a", folder / "invented.b"
    with paths[0].open("w") as source, paths[1].open("w") as target:
        for _ in range(pairs):
            length = int(np.clip(rng.lognormal(3.0, 0.6), 1, 150))
            for file in (source, target):
                ranks = (rng.pareto(1.0, max(1, int(length * rng.uniform(0.8, 1.2)))) * 5).astype(np.int64)
                file.write(" ".join(words[np.minimum(ranks, len(words) - 1)]) + "\n")
    return paths


def show_batches(store: Store, budget: int) -> None:
    """One line: padding, and the time to plan an epoch."""
    batches = Batches(store, Packed.fitting(store, target=budget))
    begun = time.perf_counter()
    count = sum(1 for _ in batches.plan(0))
    planning = time.perf_counter() - begun
    print(f"| {budget} | {count} | {padding_share(batches):.2%} | {planning:.2f} |")


def main(
    train: tuple[Path, ...] = (),
    synthetic: int = 200_000,
    vocabulary: int = 8000,
    budgets: tuple[int, ...] = (12_288, 49_152),
) -> None:
    """Prepare a corpus and plan its batches.

    Args:
        train: Parallel files, SOURCE TARGET.
        synthetic: Pairs to invent where no files are given.
        vocabulary: Size of the joint vocabulary to learn.
        budgets: Target tokens of a batch.
    """
    print(f"{os.cpu_count()} CPUs ({platform.machine()}), Python {platform.python_version()}", end=", ")
    print(f"tokenizers {tokenizers.__version__}, numpy {np.__version__}, load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = train or invent(folder, synthetic)
        size = sum(path.stat().st_size for path in paths)
        times: dict[str, float] = {}
        begun, cpu = time.perf_counter(), time.process_time()
        reports = prepare(
            folder / "out",
            {"train": corpora(paths)},
            Preparation(vocabulary=vocabulary),
            progress=lambda stage, done, total: times.setdefault(stage, time.perf_counter() - begun) and None,
        )
        seconds, used = time.perf_counter() - begun, time.process_time() - cpu
        report = reports["train"]
        print(
            "| examples | MB | seconds in all | CPU seconds | vocabulary s | store s | examples/s | peak memory |"
        )
        print("|---|---|---|---|---|---|---|---|")
        print(
            f"| {report.examples:,} | {size / 1e6:.0f} | {seconds:.1f} | {used:.1f} | {times['train']:.1f} | "
            f"{report.seconds:.1f} | {report.examples / report.seconds:,.0f} | {peak()} |\n"
        )
        store = Store.open(folder / "out" / "train")
        begun = time.perf_counter()
        store.verify()
        print(f"store of {sum(f.stat().st_size for f in store.folder.iterdir()) / 1e6:.0f} MB", end=", ")
        print(f"verified in {time.perf_counter() - begun:.2f} s; tokens a row: ", end="")
        print(
            ", ".join(f"{field} {store.tokens(field) / len(store):.1f}" for field in store.fields), end="\n\n"
        )
        print("| target tokens | batches | padding | planning s |")
        print("|---|---|---|---|")
        for budget in budgets:
            show_batches(store, budget)
        print(f"\npeak memory with the batches: {peak()}")


if __name__ == "__main__":
    tyro.cli(main)
