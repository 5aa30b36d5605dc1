"""How good is a model after a fixed time? Train by a recipe within minutes, then BLEU on the test sets of the corpus.

    levt prepare --train … --dev … --test … --vocabulary 8000 --out corpora/multi30k
    python benchmarks/quality.py multi30k-levt --corpus corpora/multi30k --minutes 6.3 --seeds 1 2 3

Wall time counts everything from the start of the process's work to the last validation: compiling too. Flags that
are not its own go to the recipe. The reference implementation on one H200, Multi30k, small model: autoregressive
36.1 after 128 s (beam 4), LevT 30.9 after 377 s.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import torch
import tyro

import levt
from levt.data.prepare import load_tokenizers
from levt.data.store import Store
from levt.evaluation.metrics import bleu, chrf
from levt.recipes import recipe
from levt.recipes.experiment import Experiment, run


def texts(corpus: Path, split: str) -> tuple[list[str], list[str]]:
    """Sources and references of a split."""
    source, target = load_tokenizers(corpus)
    store = Store.open(corpus / split)
    rows = range(len(store))
    return (
        source.decode_batch([store.source(i).tolist() for i in rows]),
        target.decode_batch([store.target(i).tolist() for i in rows]),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("recipe")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("runs/quality"))
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.0])
    parser.add_argument("--name", default="")
    given, flags_given = parser.parse_known_args()
    splits = sorted(p.name for p in given.corpus.glob("test*") if (p / "meta.json").is_file())
    name = given.name or Path(given.recipe).name  # of a recipe in a file not the folder of that file
    rows = []
    for seed in given.seeds:
        began = time.perf_counter()
        flags = tyro.cli(
            tyro.conf.AvoidSubcommands[Experiment],
            default=recipe(given.recipe),
            args=[f for f in flags_given if f != "--"],
        )
        experiment = replace(
            flags,
            corpus=given.corpus,
            out=given.out / f"{name}-{seed}",
            training=replace(flags.training, seed=seed, max_minutes=given.minutes),
        )
        standing = run(experiment)
        wall = time.perf_counter() - began
        model = levt.load(experiment.out / "best", dtype="float32")
        settings = (
            [{"empty_gap_penalty": p} for p in given.penalties]
            if model.kind == "levt"
            else [{"beam": 1}, {"beam": 4}]
        )
        for setting in settings:
            row: dict[str, object] = {"seed": seed, "steps": standing.step, "wall_s": round(wall), **setting}
            for split in splits:
                sources, references = texts(given.corpus, split)
                results = model.translate(
                    sources, **({"reread": False} if model.kind == "levt" else {}), **setting
                )
                outputs = [r.text for r in results]
                score = bleu(outputs, references)
                row |= {
                    f"{split}_bleu": round(score.value, 2),
                    f"{split}_chrf": round(chrf(outputs, references).value, 2),
                }
                if model.kind == "levt":
                    row |= {
                        f"{split}_iterations": round(sum(r.iterations for r in results) / len(results), 2),
                        f"{split}_passes": round(sum(r.passes for r in results) / len(results), 2),
                    }
            row |= {"best_dev": standing.best, "best_step": standing.best_step, "signature": score.signature}
            rows.append(row)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    print(f"{name}: torch {torch.__version__}, {device}")
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
