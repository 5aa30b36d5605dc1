"""How good is levt-en-de beside its teacher? Translation, repair of drafts, and what BLEU hides; two steps.

    python benchmarks/bundled.py decode --corpus corpora/bundled --student runs/bundled/levt-en-de \
        --teacher runs/bundled/teacher/best --out decoded.json.xz
    python benchmarks/bundled.py score decoded.json.xz cpu.json.xz > benchmarks/results/bundled_h200_202611.md
    python benchmarks/bundled.py card decoded.json.xz --model src/levt/models/levt-en-de

`decode` is short and wants a GPU, and student and teacher may be decoded by a command each; run it again with
`--engine native --device cpu` for the CPU. `score` takes minutes of a CPU: TER is slow. Texts are those of the corpus's
test splits, decoded from their tokens (which gives back every text, up to Unicode's normal form).
"""

import argparse
import json
import lzma
import platform
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import levt
from levt.data.prepare import load_tokenizers
from levt.data.store import Store
from levt.engine.batching import Budget
from levt.engine.model import Model, load
from levt.evaluation.corruption import corrupted
from levt.evaluation.metrics import bleu, chrf, ter
from levt.evaluation.score import Score
from levt.evaluation.surface import surface
from levt.evaluation.table import Row, markdown
from levt.recipes.bundled_card import bundled_card

SETS = ("Multi30k 2016", "Multi30k 2017", "Tatoeba", "Europarl", "newstest2014", "FLORES devtest")
"""The test splits of the corpus, in the order in which they were prepared."""
RATES = (0.1, 0.3)
"""Shares of words that are corrupted in a reference."""


@dataclass(frozen=True)
class Set:
    """A test set."""

    sources: list[str]
    references: list[str]


def sets(corpus: Path, limit: int | None) -> dict[str, Set]:
    """The test sets of a corpus by name; splits that have no name here go by their own."""
    source, target = load_tokenizers(corpus)
    splits = sorted(
        (path for path in corpus.glob("test*") if (path / "meta.json").is_file()),
        key=lambda path: int(path.name.removeprefix("test") or 1),
    )
    names = SETS if len(splits) == len(SETS) else tuple(path.name for path in splits)
    found = {}
    for name, path in zip(names, splits, strict=True):
        store = Store.open(path)
        rows = range(min(len(store), limit or len(store)))
        found[name] = Set(
            source.decode_batch([store.source(i).tolist() for i in rows]),
            target.decode_batch([store.target(i).tolist() for i in rows]),
        )
    return found


def decoded(model: Model, texts: list[str], drafts: list[str] | None, **options: Any) -> dict[str, Any]:
    """What a model makes of texts, and how long it took; what is too long to be refined is left as it is."""
    begun = time.perf_counter()
    fits = list(range(len(texts)))
    if drafts is None:
        results = model.translate(texts, **options)
        found = [result.text for result in results]
    else:
        fits = [i for i in fits if fits_whole(model, texts[i], drafts[i])]
        chosen = [drafts[i] for i in fits]
        results = model.refine([texts[i] for i in fits], draft=chosen, **options)
        found = list(drafts)
        for i, result in zip(fits, results, strict=True):
            found[i] = result.text
    return {
        "texts": found,
        "too_long": len(texts) - len(fits),
        "iterations": sum(result.iterations for result in results) / max(len(results), 1),
        "passes": sum(result.passes for result in results) / max(len(results), 1),
        "seconds": time.perf_counter() - begun,
    }


def fits_whole(model: Model, text: str, draft: str) -> bool:
    """Whether a text and its draft go through the network in one piece."""
    tokenizers, room = model.engine.tokenizers, model.engine.config.max_length - 2
    return len(tokenizers.source.encode(text)) <= room and len(tokenizers.target.encode(draft)) <= room


def decode(given: argparse.Namespace) -> None:
    where = torch.cuda.get_device_name() if torch.cuda.is_available() and given.device != "cpu" else "CPU"
    how = {"device": given.device, "engine": given.engine, "budget": Budget(rows=512, tokens=32_768)}
    tests = sets(given.corpus, given.limit)
    label = f"LevT, {where}, {given.engine}"
    outputs: list[dict[str, Any]] = []

    def keep(system: str, task: str, name: str, found: dict[str, Any], **more: Any) -> None:
        outputs.append({"system": system, "task": task, "set": name, **more, **found})
        print(f"{task:<14} {system:<40} {name:<16} {found['seconds']:6.1f} s", flush=True)

    student = None if given.student is None else load(given.student, **how)
    for name, test in tests.items() if student is not None else ():
        for penalty in given.penalties:
            which = label if not penalty else f"{label}, γ = {penalty:g}"
            found = decoded(student, test.sources, None, empty_gap_penalty=penalty)
            keep(which, "translate", name, found)
            if not penalty:
                keep(
                    label,
                    "again",
                    name,
                    decoded(student, test.sources, found["texts"]),
                    drafts=found["texts"],
                )
        pool = [word for text in test.references for word in text.split(" ")]
        for rate in RATES:
            rng = random.Random(f"{name} {rate}")
            drafts = [corrupted(text, rate, pool, rng) for text in test.references]
            for dial in given.dials:
                which = label if not dial else f"{label}, min_edit {dial:g}"
                found = decoded(student, test.sources, drafts, min_edit=dial)
                keep(which, f"repair {rate:.0%}", name, found, drafts=drafts)
    if given.teacher is not None:
        write(given.out, tests, outputs, where)  # what is done is done
        teacher = load(given.teacher, device=given.device, budget=how["budget"])
        for name, test in tests.items():
            for beam in (1, 4):
                found = decoded(teacher, test.sources, None, beam=beam)
                keep(f"teacher, {'greedy' if beam == 1 else f'beam {beam}'}", "translate", name, found)
    write(given.out, tests, outputs, where)


def write(path: Path, tests: dict[str, Set], outputs: list[dict[str, Any]], where: str) -> None:
    """Keep all outputs so far."""
    whole = {
        "versions": f"levt {levt.__version__}, torch {torch.__version__}, Python {platform.python_version()}, {where}",
        "sets": {name: vars(test) for name, test in tests.items()},
        "outputs": outputs,
    }
    path.write_bytes(lzma.compress(json.dumps(whole, ensure_ascii=False).encode()))
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def measured(texts: list[str], test: dict[str, list[str]]) -> tuple[Score, ...]:
    """BLEU, chrF and TER with their signatures, and the counters."""
    scores = tuple(metric(texts, test["references"]) for metric in (bleu, chrf, ter))
    return scores + surface(texts, test["references"], test["sources"]).scores()


def extra(output: dict[str, Any]) -> tuple[Score, ...]:
    edits = output["system"].startswith("LevT")
    counted = [("iterations", output["iterations"]), ("decoder passes", output["passes"])] if edits else []
    named = [*counted, ("sentences/s", len(output["texts"]) / max(output["seconds"], 1e-9))]
    return tuple(Score(name=name, value=value, signature="") for name, value in named)


def score(given: argparse.Namespace) -> None:
    files = [json.loads(lzma.decompress(path.read_bytes())) for path in given.files]
    tests: dict[str, Any] = files[0]["sets"]
    outputs = [output for file in files for output in file["outputs"]]
    print("# levt-en-de beside its teacher\n\n`python benchmarks/bundled.py`\n")
    for file in files:
        print(f"- {file['versions']}")
    bleus: dict[tuple[str, str], float] = {}
    print("\n## Translation\n")
    for name, test in tests.items():
        print(f"### {name}: {len(test['sources']):,} sentences\n")
        rows = []
        for output in outputs:
            if (output["task"], output["set"]) == ("translate", name):
                scores = measured(output["texts"], test)
                bleus[output["system"], name] = scores[0].value
                rows.append(Row(name=output["system"], scores=scores + extra(output)))
        print(markdown(rows, flip=True), "\n")
    print("## The bar: BLEU against the teacher with beam 4\n")
    systems = list(dict.fromkeys(system for system, _ in bleus if system.startswith("LevT")))
    print(f"| set | {' | '.join(systems)} |\n|:---|{'---:|' * len(systems)}")
    for name in tests:
        best = bleus.get(("teacher, beam 4", name))
        if best is not None:
            differences = [bleus.get((system, name), float("nan")) - best for system in systems]
            print(f"| {name} | {' | '.join(f'{value:+.2f}' for value in differences)} |")
    print("\n## Repair: references with corrupted words (missing, twice, wrong, moved)\n")
    print("BLEU and TER of the corrupted references and of what became of them, signatures as above.\n")
    print("| set | corrupted | system | BLEU | repaired | TER | repaired | iterations |")
    print("|:---|---:|:---|---:|---:|---:|---:|---:|")
    repairs = [output for output in outputs if output["task"].startswith("repair")]
    for output in sorted(repairs, key=lambda output: (list(tests).index(output["set"]), output["task"])):
        references = tests[output["set"]]["references"]
        numbers = [metric(output[k], references).value for metric in (bleu, ter) for k in ("drafts", "texts")]
        cells = [output["set"], output["task"].removeprefix("repair "), output["system"]]
        cells += [f"{number:.2f}" for number in (*numbers, output["iterations"])]
        print(f"| {' | '.join(cells)} |")
    print("\n## Its own translations as drafts\n\n| set | system | unchanged |\n|:---|:---|---:|")
    for output in outputs:
        if output["task"] == "again":
            same = [a == b for a, b in zip(output["drafts"], output["texts"], strict=True)]
            print(f"| {output['set']} | {output['system']} | {100 * sum(same) / len(same):.1f} % |")


def card(given: argparse.Namespace) -> None:
    """Write the model's card with what was measured."""
    files = [json.loads(lzma.decompress(path.read_bytes())) for path in given.files]
    tests, scores = files[0]["sets"], {}
    for output in (output for file in files for output in file["outputs"]):
        system, name = output["system"], output["set"]
        if output["task"] == "translate" and "γ" not in system and "greedy" not in system:
            found = bleu(output["texts"], tests[name]["references"])
            edits = f", {output['iterations']:.2f} iterations" if system.startswith("LevT") else ""
            scores[f"{name}, {system}"] = f"BLEU {found.value:.1f}{edits} ({found.signature})"
    (given.model / "README.md").write_text(bundled_card(scores).render(), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(required=True)
    first = verbs.add_parser("decode")
    first.add_argument("--corpus", type=Path, required=True)
    first.add_argument("--student", type=Path)
    first.add_argument("--teacher", type=Path)
    first.add_argument("--out", type=Path, required=True)
    first.add_argument("--device")
    first.add_argument("--engine", default="cuda" if torch.cuda.is_available() else "torch")
    first.add_argument("--penalties", type=float, nargs="+", default=[0.0, 0.5, 1.0])
    first.add_argument("--dials", type=float, nargs="*", default=[0.0, 0.7])
    first.add_argument("--limit", type=int)
    first.set_defaults(do=decode)
    third = verbs.add_parser("card")
    third.add_argument("files", type=Path, nargs="+")
    third.add_argument("--model", type=Path, required=True)
    third.set_defaults(do=card)
    second = verbs.add_parser("score")
    second.add_argument("files", type=Path, nargs="+")
    second.set_defaults(do=score)
    given = parser.parse_args()
    given.do(given)


if __name__ == "__main__":
    main()
