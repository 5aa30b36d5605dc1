"""The paper's appendix: the share of sentences that end at each iteration, for LevT taught by a teacher, En-De."""

from levt.evaluation.plot import iterations as plot_iterations
from levt.recipes.reproduce.framework.report import Cell, Report, Section, Table
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.claims import about_two, claims_table, stated
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
        light=True,
        version=2,
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
    begun, average = shares(found["iterations"]), mean(found["iterations"])
    counted = shares([count - 1 for count in found["iterations"]])
    ours, paper = ({i + 1: share / 100 for i, share in enumerate(one)} for one in (counted, PAPER))
    plot_iterations(ours, job.out / "shares.png", others={"paper": paper})
    rows: list[list[Cell]] = [
        ["ours, %", *counted, f"{average - 1:.2f}"],
        ["paper, %", *PAPER, f"{PAPER_MEAN:.2f}"],
        ["ours with the confirming one, %", *begun, f"{average:.2f}"],
    ]
    claims = [
        about_two(average, f"{PAPER_MEAN:.2f}"),
        stated(
            "most sentences (90 %) end within 4",
            f"{sum(PAPER[:4]):.1f} %",
            f"{sum(counted[:4]):.1f} %",
            holds=sum(counted[:4]) >= 90,
        ),
        stated("hardly one (1 %) needs 10", f"{PAPER[-1]:.1f} %", f"{begun[-1]:.1f} %", holds=begun[-1] <= 1),
    ]
    columns = ["iterations", *(str(i + 1) for i in range(LIMIT)), "mean"]
    score = read_scores(job.inputs["scores"])
    Report(
        sections=[
            Section(heading="The paper's claims", table=claims_table(claims)),
            Section(
                heading="Sentences that end at each iteration",
                text=f"LevT, distilled, γ by the dev set; {job.config['title']}; {len(found['texts']):,} sentences, "
                f"BLEU {score['bleu']:.2f}; seed 1. The first two rows do not count the iteration that only confirms: "
                "the reference reports the index of the last iteration, from zero. (The paper's table 1 has 2.05 for "
                "the same model and test set.)",
                table=Table(columns=columns, rows=rows, digits=1),
                picture="shares.png",
                caption="Share of sentences by iterations, those that only confirm not counted.",
            ),
        ],
        signatures=signatures(job.inputs["scores"]),
        values={"iterations": begun, "as the reference counts": counted, "mean": average},
    ).write(job.out)
