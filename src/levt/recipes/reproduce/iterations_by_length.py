"""Figure 4a: the mean number of iterations against the length of the input, on texts that nobody has translated."""

import statistics
from pathlib import Path

from levt.data.aligned import aligned
from levt.data.sample import spread
from levt.engine.model import load
from levt.errors import InputError
from levt.evaluation.plot import lines
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.claims import about_two, claims_table, stated
from levt.recipes.reproduce.parts.decoding import mean, read_outputs, translated, write_outputs
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.training import MODEL
from levt.recipes.reproduce.parts.tuning import BUDGET, penalty_of

TITLE = "Figure 4a: iterations by length"
MOST = 6_000
"""Sentences that are decoded, at most, as many from each file."""
WIDTH = 5
"""Words of a bin."""
TASK = {"toy": "en-de", "quick": "en-de-long", "paper": "en-de"}
MONOLINGUAL = {
    "quick": (
        "europarl-en-de/dev.en", "europarl-en-de/test.en", "newstest/newstest2013.en-de.en",
        "newstest/newstest2014.en-de.en",
    ),
    "paper": ("monolingual/en.txt",),
}  # fmt: skip


def goal(setting: Setting) -> Step:
    """Decode monolingual text with LevT distilled."""
    made = Made.of(TASK[setting.scale], setting)
    model = made.model()
    files: dict[str, Step | Path] = {
        f"text {i}": setting.data / file for i, file in enumerate(MONOLINGUAL.get(setting.scale, ()))
    }
    inputs: dict[str, Step | Path] = {"model": model, "tuned": made.tuned(model)}
    texts: dict[str, Step | Path] = files or {"toy": made.corpus.inputs["texts"]}
    outputs = Step(
        label="monolingual.decoded",
        run=decode_monolingual,
        version=2,
        inputs={**inputs, **texts},
        config={"most": MOST},
        seconds=4 * made.seconds,
        light=True,
    )
    return Step(
        label="iterations-by-length",
        run=report,
        light=True,
        version=3,
        inputs={"outputs": outputs},
        config={
            "names": [path.name for path in files.values() if isinstance(path, Path)],
            "title": made.task.title,
        },
        seconds=2.0,
    )


def decode_monolingual(job: Job) -> None:
    """Translate the lines of some files."""
    files = [path for name, path in sorted(job.inputs.items()) if name.startswith("text ")]
    if "toy" in job.inputs:
        files = [job.inputs["toy"] / "train.src"]
    texts = [text for path in files for text in sentences(path, job.config["most"] // len(files))]
    model = load(job.inputs["model"] / MODEL, engine="torch", budget=BUDGET)
    results = translated(model, texts, {"empty_gap_penalty": penalty_of(job.inputs["tuned"])})
    write_outputs(job.out, results, texts)


def sentences(path: Path, most: int) -> list[str]:
    """At most so many lines of a file that are not empty, from all over it."""
    known = [text for (line,) in aligned(path) if (text := line.strip())]
    if not known:
        raise InputError(f"{path} has no text", hint="it needs a sentence a line")
    return [known[i] for i in spread(len(known), most)]


def by_length(words: list[int], values: list[int]) -> dict[int, tuple[float, int]]:
    """The mean value and the number of sentences, by the middle of bins of so many words.

    >>> by_length([1, 4, 7], [2, 4, 5])
    {3: (3.0, 2), 8: (5.0, 1)}
    """
    bins: dict[int, list[int]] = {}
    for length, value in zip(words, values, strict=True):
        bins.setdefault((max(length, 1) - 1) // WIDTH, []).append(value)
    return {b * WIDTH + (WIDTH + 1) // 2: (mean(found), len(found)) for b, found in sorted(bins.items())}


def growth(words: list[int], values: list[int]) -> float:
    """How much the value grows with ten more words, by least squares over all sentences; 0 where all are as long.

    >>> growth([10, 20, 30], [1, 2, 3])
    1.0
    """
    if len(set(words)) < 2:
        return 0.0
    return 10 * statistics.linear_regression(words, values).slope


def report(job: Job) -> None:
    """A plot and its numbers."""
    found = read_outputs(job.inputs["outputs"])
    begun = by_length(found["source_words"], found["iterations"])
    changing = by_length(found["source_words"], found["edits"])
    # A bin of a few sentences says nothing.
    shown = [length for length, (_, count) in begun.items() if count >= 10] or list(begun)
    lines(
        {
            "all iterations": {length: begun[length][0] for length in shown},
            "those that change something": {length: changing[length][0] for length in shown},
        },
        job.out / "by-length.png",
        x="words of the source",
        y="iterations",
        ticks=False,
    )
    rows: list[list[Cell]] = [
        [f"{length - 2}–{length + 2}", begun[length][1], begun[length][0], changing[length][0]]
        for length in shown
    ]
    grown, average = growth(found["source_words"], found["iterations"]), mean(found["iterations"])
    few = 100 * mean(
        [begun[length][0] - 1 <= 4 for length in shown]
    )  # as the reference counts, like the mean
    claims = [
        about_two(average, None),
        stated(
            "no more than 4 at most lengths, counted so", "1 to 4", f"at {few:.0f} % of them", holds=few > 50
        ),
        stated("more for longer sentences", None, f"{grown:+.2f} for 10 words more", holds=grown > 0),
        stated(
            "but slowly: less than 1 for 10 words", None, f"{grown:+.2f} for 10 words more", holds=grown < 1
        ),
    ]
    names = ", ".join(job.config["names"]) or "toy sentences"
    Report(
        sections=[
            Section(heading="The paper's claims", table=claims_table(claims)),
            Section(
                heading="Iterations by length",
                text=f"LevT, distilled, seed 1, γ by the dev set; trained on {job.config['title']}; "
                f"{len(found['texts']):,} sentences of {names}, at most 10 iterations each. Growth is by least squares "
                "over all sentences. The paper has a plot and no numbers: between 1 and 4 at most lengths, growing "
                "slowly.",
                table=Table(columns=["words", "sentences", "iterations", "that change something"], rows=rows),
                picture="by-length.png",
                caption="Mean number of iterations against the words of the source; at least 10 sentences a point.",
            ),
        ],
        values={"by length": {str(at): one for at, one in begun.items()}, "mean": average, "growth": grown},
    ).write(job.out)
