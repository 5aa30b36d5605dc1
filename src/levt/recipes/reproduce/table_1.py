"""Table 1: quality and latency of the Transformer and of LevT, on all four tasks.

Beside the paper's four systems stand a student that begins as its teacher, and the honest rival of any model
that writes all tokens at once: a deep encoder and one decoder layer, left to right, on the same distilled data. And a
line each for what the paper says of decoding: search and noisy parallel decoding gain nothing, a teacher that chooses
should gain.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from levt.evaluation.plot import scatter
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.averages import Average, verdict
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.prepare import overlap
from levt.recipes.reproduce.parts.scoring import signatures
from levt.recipes.reproduce.parts.searching import search_step
from levt.recipes.reproduce.parts.sizes import size
from levt.recipes.reproduce.parts.task import TASKS
from levt.recipes.reproduce.parts.timing import read_latency, time_step

TITLE = "Table 1: quality and latency of generation"
BY_TASK = True

GREEDY, BEAM, DEEP = "AR greedy", "AR beam 4", "AR deep-shallow student, greedy"
ORACLE, DISTILLED, WARM = "LevT oracle", "LevT distilled", "LevT distilled, begun as its teacher"
SEARCH, NOISE, RERANKED = "– search over counts", "– noisy parallel decoding", "– chosen by the teacher"

Numbers = tuple[str, str, str]
"""Of the paper: score (ROUGE-1/2/L), latency in ms, iterations."""
PAPER: dict[str, dict[str, Numbers]] = {
    "ro-en": {
        GREEDY: ("31.67", "326", "27.1"), BEAM: ("32.30", "349", "27.1"),
        ORACLE: ("33.02", "97", "2.19"), DISTILLED: ("33.26", "90", "2.03"),
    },
    "en-de": {
        GREEDY: ("26.89", "343", "28.1"), BEAM: ("27.17", "369", "28.1"),
        ORACLE: ("25.20", "126", "2.88"), DISTILLED: ("27.27", "92", "2.05"),
    },
    "en-ja": {
        GREEDY: ("42.86", "261", "22.6"), BEAM: ("43.68", "306", "22.6"),
        ORACLE: ("42.36", "112", "2.61"), DISTILLED: ("43.17", "106", "1.97"),
    },
    "summarisation": {
        GREEDY: ("37.31 / 18.10 / 34.65", "116", "10.1"), BEAM: ("37.87 / 18.92 / 35.13", "149", "10.1"),
        ORACLE: ("36.14 / 17.14 / 34.34", "98", "2.32"), DISTILLED: ("37.40 / 18.33 / 34.51", "84", "1.73"),
    },
}  # fmt: skip
STANDS_FOR = {"en-de-long": "en-de"}
SKIPPED = {"toy": ("ro-en",), "quick": ("en-de-long",)}
"""Tasks that a scale leaves out unless asked for: the toy's Ro-En is its En-De, and quick En-De is Multi30k."""
CLOSE = ("en-de",)
"""Tasks whose models are trained with several seeds, for claims of less than one BLEU; the others may be by seeds."""


def goal(setting: Setting) -> Step:
    """All systems on all tasks."""
    inputs: dict[str, Step | Path] = {}
    config: dict[str, dict[str, object]] = {}
    known = [name for name in TASKS[setting.scale] if name not in SKIPPED.get(setting.scale, ())]
    for name in setting.tasks or known:
        made = Made.of(name, setting)
        inputs[f"{name}/corpus"] = made.corpus
        inputs |= {f"{name}/{system}": step for system, step in systems(made).items()}
        config[name] = {
            "title": made.task.title,
            "metrics": ["bleu"] if made.task.measured_by == "bleu" else ["rouge-1", "rouge-2", "rouge-l"],
            "tests": list(made.task.tests),
            "tokenize": made.task.tokenize,
            "deep": f"{size(setting.scale).deep_encoder}-1",
        }
    return Step(label="table-1", run=report, inputs=inputs, config={"tasks": config}, seconds=3.0)


def systems(made: Made) -> dict[str, Step]:
    """The scores ``SYSTEM/SEED`` of a task, ``SYSTEM@TEST/1`` for further test sets, and ``latency``."""
    found: dict[str, Step] = {}
    timed: dict[str, tuple[Step, Mapping[str, object], Step | None]] = {}
    for seed in made.close_seeds if made.task.name in CLOSE else made.seeds:
        baseline, deep = made.baseline(seed), made.deep_student(seed)
        oracle, student = (made.model(expert="oracle", seed=seed), made.model(seed=seed))
        warm = made.model(seed=seed, label="levt-warm", warm=True)
        outputs = {
            GREEDY: made.outputs(baseline, "greedy", beam=1),
            BEAM: made.outputs(baseline, "beam4", beam=4),
            DEEP: made.outputs(deep, "greedy", beam=1),
            ORACLE: made.outputs(oracle, tuned=True),
            DISTILLED: made.outputs(student, tuned=True),
            WARM: made.outputs(warm, tuned=True),
        }
        if seed == 1:
            tuned = made.tuned(student)
            timed = {
                GREEDY: (baseline, {"beam": 1}, None),
                BEAM: (baseline, {"beam": 4}, None),
                DEEP: (deep, {"beam": 1}, None),
                ORACLE: (oracle, {}, made.tuned(oracle)),
                DISTILLED: (student, {}, tuned),
            }
            outputs |= {
                SEARCH: search_step(f"{student.label}.counts", student, made.corpus, tuned, way="counts"),
                NOISE: search_step(f"{student.label}.noise", student, made.corpus, tuned, way="noise"),
                RERANKED: made.outputs(student, "reranked", tuned=True, teacher=True),
            }
            for split, test in zip(made.task.splits[1:], list(made.task.tests)[1:], strict=True):
                for system, more in (
                    (BEAM, made.outputs(baseline, "beam4", split=split, beam=4)),
                    (ORACLE, made.outputs(oracle, split=split, tuned=True)),
                    (DISTILLED, made.outputs(student, split=split, tuned=True)),
                    (WARM, made.outputs(warm, split=split, tuned=True)),
                ):
                    found[f"{system}@{test}/1"] = made.score(more, split)
        found |= {f"{system}/{seed}": made.score(one) for system, one in outputs.items()}
    seconds = size(made.setting.scale).timing
    found["latency"] = time_step(f"{made.task.name}.latency", timed, made.corpus, seconds=seconds)
    return found


def report(job: Job) -> None:
    """A section for each task."""
    sections, values = [], {}
    claims: list[list[Cell]] = []
    for name, known in job.config["tasks"].items():
        inputs = {
            key.removeprefix(f"{name}/"): path
            for key, path in job.inputs.items()
            if key.startswith(f"{name}/")
        }
        latency = read_latency(inputs["latency"])
        names = [GREEDY, BEAM, DEEP, ORACLE, DISTILLED, WARM, SEARCH, NOISE, RERANKED]
        found = {system: Average.of(inputs, system) for system in names}
        metrics: list[str] = known["metrics"]
        left_out = overlap(inputs.pop("corpus"))
        values[name] = {
            system: {m: one.mean(m) for m in [*metrics, "iterations", "passes"]}
            for system, one in found.items()
        }
        main = "bleu" if "bleu" in metrics else "rouge-2"
        picture = f"{name}.png"
        scatter(
            {s: (latency["systems"][s]["mean"], found[s].mean(main)) for s in latency["systems"]},
            job.out / picture, x="latency of one text, ms", y=main.upper(),
        )  # fmt: skip
        sections += [
            Section(
                heading=f"{name}: {known['title']}",
                text=_about(known, latency["engine"], left_out),
                table=_scores(name, known, found, latency["systems"]),
                picture=picture,
                caption="Quality against the time of one text.",
            ),
            Section(heading=f"{name}: what the score hides", table=_hidden(found)),
        ]
        if others := _elsewhere(known, inputs, main):
            sections.append(Section(heading=f"{name}: other test sets", table=others))
        claims += [[name, *row] for row in _claims(found, latency["systems"], main)]
    first = Section(
        heading="The paper's claims",
        text="Does the order that the paper reports hold here? The numbers decide, by the mean over seeds.",
        table=Table(columns=["task", "claim", "ours", "holds"], rows=claims),
    )
    scored = [path for key, path in job.inputs.items() if not key.endswith(("/latency", "/corpus"))]
    Report(sections=[first, *sections], signatures=signatures(*scored), values=values).write(job.out)


def _about(known: Mapping[str, Any], engine: str, left_out: int) -> str:
    words = (
        f"Deep-shallow is {known['deep']}. Latency is of one text at a time with the engine `{engine}`, all systems in "
        "turns; the paper's on a V100. Iterations that only confirm count; from left to right they are tokens. γ was "
        "chosen on the dev set."
    )
    if known["tokenize"] == "ja-mecab":
        words += " Japanese is segmented by MeCab (the paper's numbers are with KyTea); "
        words += "checkpoint and γ were chosen by BLEU over characters."
    if left_out:
        words += f" {left_out:,} training pairs were left out: their sources are in the dev or test sets."
    return words


def _scores(
    name: str, known: Mapping[str, Any], found: Mapping[str, Average], times: Mapping[str, dict[str, float]]
) -> Table:
    metrics: list[str] = known["metrics"]
    paper = PAPER.get(STANDS_FOR.get(name, name), {})
    rows: list[list[Cell]] = []
    for system, one in found.items():
        taken = times.get(system)
        theirs = paper.get(system)
        rows.append(
            [
                system,
                *(one.shown(metric) for metric in metrics),
                one.mean("iterations"),
                one.mean("passes"),
                None if taken is None else f"{taken['mean']:.1f} ({taken['p50']:.1f} / {taken['p95']:.1f})",
                None if taken is None else f"×{times[BEAM]['mean'] / taken['mean']:.1f}",
                *(theirs or (None, None, None)),
            ]
        )
    columns = [
        "system", *(metric.upper() for metric in metrics), "iterations", "passes", "ms (p50 / p95)", "speed",
        "paper", "paper ms", "paper iterations",
    ]  # fmt: skip
    return Table(columns=columns, rows=rows)


def _hidden(found: Mapping[str, Average]) -> Table:
    counters = list(next(iter(found.values())).runs[0]["surface"])
    rows: list[list[Cell]] = [[system, *(one.surface(c) for c in counters)] for system, one in found.items()]
    return Table(columns=["system", *counters], rows=rows)


def _elsewhere(known: Mapping[str, Any], inputs: Mapping[str, Path], main: str) -> Table | None:
    tests: list[str] = known["tests"][1:]
    if not tests:
        return None
    rows: list[list[Cell]] = [
        [system, *(Average.of(inputs, f"{system}@{test}").shown(main) for test in tests)]
        for system in (BEAM, ORACLE, DISTILLED, WARM)
    ]
    return Table(columns=["system", *tests], rows=rows)


def _claims(
    found: Mapping[str, Average], times: Mapping[str, dict[str, float]], main: str
) -> list[list[str]]:
    def score(system: str) -> float:
        return found[system].mean(main)

    def versus(one: str, other: str) -> str:
        return f"{score(one):.2f} against {score(other):.2f}"

    faster = times[BEAM]["mean"] / times[DISTILLED]["mean"]
    iterations = found[DISTILLED].mean("iterations")
    return [
        verdict("distilled ≥ oracle", versus(DISTILLED, ORACLE), score(DISTILLED) >= score(ORACLE)),
        verdict(
            "distilled within 0.5 of beam 4", versus(DISTILLED, BEAM), score(DISTILLED) >= score(BEAM) - 0.5
        ),
        verdict("at least 3 times faster than beam 4", f"×{faster:.1f}", faster >= 3),
        verdict("about 2 iterations", f"{iterations:.2f}", iterations < 3),
        verdict(
            "search over counts gains nothing",
            versus(SEARCH, DISTILLED),
            score(SEARCH) < score(DISTILLED) + 0.3,
        ),
        verdict("noise gains nothing", versus(NOISE, DISTILLED), score(NOISE) < score(DISTILLED) + 0.3),
        verdict(
            "a teacher that chooses gains", versus(RERANKED, DISTILLED), score(RERANKED) > score(DISTILLED)
        ),
    ]
