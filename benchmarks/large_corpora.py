"""What does a billion pairs cost, from text to a LevT model and back to text?

    python benchmarks/large_corpora.py

Nothing is run: measured rates of one machine are multiplied. The table of docs/large-corpora.md is this output; a
better measurement is one number changed here, and the table made again.
"""

from dataclasses import dataclass

PAIRS = 1_000_000_000
TOKENS = 30
"""Target tokens of a pair with boundaries, 32,000 pieces (Europarl English-German has 29)."""
DOLLARS = 3.0
"""An assumption: what an H200 costs an hour, with its share of the machine."""
EPOCHS = 1
"""Of teacher and student each: 30 billion target tokens, half as many again as the paper's 300,000 steps."""
NODE = 8
"""GPUs of a machine; each machine has 16 cores a GPU at least."""


@dataclass(frozen=True)
class Rate:
    """Something that was measured, or is a placeholder until it is."""

    value: float
    unit: str
    source: str
    measured: bool = True


PREPARE_CORE = Rate(
    5_800, "pairs/s", "one process of prepare, CPU time on a busy x86-64 server (docs/LOG.md)"
)
PREPARE_MOST = Rate(
    91_000, "pairs/s", "the process that reads and writes, all others keeping up (docs/LOG.md)"
)
SAMPLE = Rate(
    233_000, "pairs/s", "reading alone, for the sample that the vocabulary is learnt from (docs/LOG.md)"
)
TEACHER = Rate(
    767_000, "target tokens/s", "autoregressive base on one H200 (benchmarks/results/training_h200_202611.md)"
)
STUDENT = Rate(
    478_000, "target tokens/s", "LevT base on one H200 (benchmarks/results/training_h200_202611.md)"
)
ASSEMBLE = Rate(
    67_000, "pairs/s", "putting the finished pieces of a distillation together, one core (docs/LOG.md)"
)
BEAM = Rate(
    3_260,
    "sentences/s",
    "autoregressive base, beam 4, batch 128, 28 tokens, tokens to tokens, on one H200"
    " (benchmarks/results/throughput_h200_202611.md)",
)
DECODE = Rate(
    16_700,
    "sentences/s",
    "LevT base, two iterations with edits, batch 128, 28 tokens, tokens to tokens, on one H200"
    " (benchmarks/results/throughput_h200_202611.md)",
)
SCALING = {
    8: Rate(0.9, "of linear", "data parallel within a machine: not measured yet", measured=False),
    64: Rate(0.8, "of linear", "data parallel over eight machines: not measured yet", measured=False),
}


def stages(gpus: int) -> dict[str, tuple[float, bool]]:
    """The hours of each stage on so many GPUs, and whether every rate in them was measured."""
    machines = gpus // NODE
    scaling = SCALING[gpus]
    # One command prepares on one machine; several machines prepare, and put together, a part each, after one of
    # them has learnt the vocabulary.
    prepare = SAMPLE.value**-1 + 1 / (machines * min(PREPARE_MOST.value, 16 * NODE * PREPARE_CORE.value))
    tokens = EPOCHS * PAIRS * TOKENS
    return {
        "prepare": (PAIRS * prepare / 3600, True),
        "train the teacher": (tokens / (TEACHER.value * gpus * scaling.value) / 3600, scaling.measured),
        "distil, beam 4": (PAIRS / (BEAM.value * gpus) / 3600, BEAM.measured),
        "put the distilled corpus together": (PAIRS / (ASSEMBLE.value * machines) / 3600, True),
        "train the student": (tokens / (STUDENT.value * gpus * scaling.value) / 3600, scaling.measured),
        "decode with the student": (PAIRS / (DECODE.value * gpus) / 3600, DECODE.measured),
    }


def table() -> str:
    """The hours and dollars of all stages as Markdown; an asterisk where a rate was not measured."""
    rows = ["| stage | 8 × H200, hours | dollars | 64 × H200, hours | dollars |", "|---|---|---|---|---|"]
    few, many = stages(8), stages(64)
    for stage in few:
        cells = [
            cell
            for gpus, found in ((8, few), (64, many))
            for hours, measured in [found[stage]]
            for cell in (f"{hours:,.1f}{'' if measured else ' *'}", f"{hours * gpus * DOLLARS:,.0f}")
        ]
        rows.append(f"| {stage} | {' | '.join(cells)} |")
    totals = [(sum(hours for hours, _ in found.values()), gpus) for found, gpus in ((few, 8), (many, 64))]
    cells = [cell for hours, gpus in totals for cell in (f"{hours:,.1f} *", f"{hours * gpus * DOLLARS:,.0f}")]
    return "\n".join([*rows, f"| all | {' | '.join(cells)} |"])


def rates() -> str:
    """The rates as Markdown."""
    known = {
        "prepare, a core": PREPARE_CORE,
        "prepare, at most": PREPARE_MOST,
        "sampling for the vocabulary": SAMPLE,
        "training of the teacher, a GPU": TEACHER,
        "training of the student, a GPU": STUDENT,
        "beam search of the teacher, a GPU": BEAM,
        "decoding of the student, a GPU": DECODE,
        "assembling, a core": ASSEMBLE,
        "8 GPUs": SCALING[8],
        "64 GPUs": SCALING[64],
    }
    rows = [
        f"| {name} | {rate.value:,g} {rate.unit} | {'measured' if rate.measured else 'assumed *'} | {rate.source} |"
        for name, rate in known.items()
    ]
    return "\n".join(["| rate | value | | from |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    print(f"{rates()}\n\n{table()}")
