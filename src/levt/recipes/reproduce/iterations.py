"""The paper's appendix: the share of sentences that end at each iteration, for LevT taught by a teacher, En-De."""

from levt.evaluation.plot import iterations as plot_iterations
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.decoding import mean, read_outputs
from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.scoring import read_scores, signatures

TITLE = "Iterations: at which sentences end"
LIMIT = 10
PAPER = (12.3, 48.1, 28.5, 8.5, 2.0, 0.4, 0.1, 0.0, 0.0, 0.1)
PAPER_MEAN = 2.43


def goal(setting: Setting) -> Step:
    """Decode the test set with LevT distilled and at most 10 iterations."""
    made = Made.of("en-de", setting)
    outputs = made.outputs(made.model(), tuned=True)
    return Step(
        label="iterations",
        run=report,
        inputs={"outputs": outputs, "scores": made.score(outputs)},
        config={"title": made.task.title},
    )


def shares(counts: list[int], limit: int = LIMIT) -> list[float]:
    """The percentage of sentences with each number of iterations, 1 … limit; 0 counts as 1.

    >>> shares([1, 2, 2, 3], limit=4)
    [25.0, 50.0, 25.0, 0.0]
    """
    return [100 * sum(max(c, 1) == i for c in counts) / len(counts) for i in range(1, limit + 1)]


def report(job: Job) -> None:
    """A table and a plot."""
    found = read_outputs(job.inputs["outputs"])
    begun, changing = shares(found["iterations"]), shares(found["edits"])
    plot_iterations({i + 1: share / 100 for i, share in enumerate(begun)}, job.out / "shares.png")
    rows: list[list[Cell]] = [
        ["ours, % of sentences", *begun, mean(found["iterations"])],
        ["ours, iterations that change something", *changing, mean(found["edits"])],
        ["paper, %", *PAPER, PAPER_MEAN],
    ]
    columns = ["iterations", *(str(i + 1) for i in range(LIMIT)), "mean"]
    score = read_scores(job.inputs["scores"])
    Report(
        sections=[
            Section(
                heading="Sentences that end at each iteration",
                text=f"LevT, distilled, γ by the dev set; {job.config['title']}; {len(found['texts']):,} sentences, "
                f"BLEU {score['bleu']:.2f}. Ours counts an iteration that only confirms; the second row does not.",
                table=Table(columns=columns, rows=rows, digits=1),
                picture="shares.png",
                caption="Share of sentences by iterations, those that only confirm counted.",
            )
        ],
        signatures=signatures(job.inputs["scores"]),
        values={"iterations": begun, "changing": changing, "mean": mean(found["iterations"])},
    ).write(job.out)
