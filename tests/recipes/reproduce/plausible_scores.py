"""What the steps before a report would leave at quick scale, with scores that a test chooses; nothing is trained."""

import json
from collections.abc import Callable
from pathlib import Path

from levt.recipes.reproduce import reproduction
from levt.recipes.reproduce.framework.report import Report, read_report
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step, missing_files

REFERENCES = [
    "a red bird sees the old tree",
    "the bear likes a small bird",
    "the old bear finds the red tree",
]
WRITTEN = [REFERENCES[0], "the bear likes a bird", "the bear finds the tree"]
NAMES = {"bleu": "BLEU", "chrf": "chrF2", "rouge-1": "ROUGE-1", "rouge-2": "ROUGE-2", "rouge-l": "ROUGE-L"}

Chosen = Callable[[str, int], float]
"""The score of a system, by its key without the seed, and the seed."""


def reported(
    name: str,
    folder: Path,
    chosen: Chosen,
    *,
    tasks: tuple[str, ...] = (),
    iterations: tuple[int, ...] = (1, 2, 3),
) -> Report:
    """The report of a name at quick scale, three seeds where calls are close; iterations of three sentences."""
    setting = Setting(scale="quick", data=folder / "data", close_calls=3, tasks=tasks)
    goal = reproduction(name).goal(setting)
    for path in missing_files(goal):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one\n", encoding="utf-8")
    inputs = {}
    for number, (key, step) in enumerate(goal.inputs.items()):
        assert isinstance(step, Step)
        inputs[key] = folder / str(number)
        leave(step, key, inputs[key], chosen, iterations)
    out = folder / "out"
    out.mkdir()
    config = json.loads(json.dumps(dict(goal.config)).replace('"trials": 1000', '"trials": 40'))
    goal.run(Job(label=name, inputs=inputs, config=config, out=out))
    return read_report(out)


def leave(step: Step, key: str, out: Path, chosen: Chosen, iterations: tuple[int, ...] = (1, 2, 3)) -> None:
    """Write what a step would."""
    system, _, last = key.rpartition("/")
    seed = int(last) if last.isdigit() else 1
    known: object
    match step.run.__name__:
        case "score":
            value = chosen(system, seed)
            scores = [
                {
                    "metric": one,
                    "name": NAMES[one],
                    "value": value,
                    "signature": "s",
                    "interval": [value - 1, value + 1],
                }
                for one in step.config["metrics"]
            ]
            counters = {"length %": 99.0, "short %": 1.0, "empty %": 0.0, "repeated %": 0.1, "copied %": 0.2}
            known = {"scores": scores, "surface": counters, "iterations": 2.1, "passes": 5.5, "sentences": 3}
            file = "scores.json"
        case "decode" | "search" | "decode_monolingual":
            texts = REFERENCES if chosen(system.replace("texts ", ""), seed) > 38 else WRITTEN
            known = {
                "texts": texts,
                "iterations": iterations,
                "edits": [1, 1, 2],
                "source_words": [3, 13, 23],
            }
            file = "outputs.json"
        case "tune_model":
            known, file = {"penalty": 0.25 * seed, "scores": {}, "signature": "s"}, "tuned.json"
        case "time_systems":
            speeds = {
                one: {"mean": 10.0 / (i + 1), "p50": 9.0, "p95": 20.0}
                for i, one in enumerate(step.config["systems"])
            }
            known = {
                "engine": "cuda",
                "systems": {one: {**taken, "calls": 300.0} for one, taken in speeds.items()},
            }
            file = "latency.json"
        case "measure_loss":
            known, file = {"delete": 0.04 if "on DAE" in key else 0.2}, "loss.json"
        case "decode_limited":
            limits = {str(limit): 30.0 + limit for limit in step.config["limits"]}
            helped = {
                help_: {at: s + i for at, s in limits.items()}
                for i, help_ in enumerate(("alone", "oracle deletion", "oracle deletion and placeholders"))
            }
            known, file = (
                {"scores": helped, "signature": "s", "name": "BLEU", "sentences": 1000},
                "limited.json",
            )
        case _:
            known = {"splits": {"train": {"skipped": {"source also in another split": 17}}}}
            file = "corpus/prepare.json"
    (out / file).parent.mkdir(parents=True)
    (out / file).write_text(json.dumps(known), encoding="utf-8")
