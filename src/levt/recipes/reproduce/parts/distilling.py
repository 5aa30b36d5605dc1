"""The step in which a teacher rewrites the targets of a corpus: ``OUT/corpus``. Goes on after a kill."""

import torch

from levt.engine.engine import AUTO
from levt.recipes.distil import distil
from levt.recipes.distillation import Distillation
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.prepare import CORPUS
from levt.recipes.reproduce.parts.task import Task
from levt.recipes.reproduce.parts.training import MODEL

RATE = {"toy": 100.0, "quick": 2_500.0, "paper": 2_000.0}
"""Sentences that a teacher writes in a second, about: measured 2,000 for the paper's size on an H200."""
SENTENCES = {
    "ro-en": 158_000,
    "en-de": 29_000,
    "en-de-long": 120_000,
    "en-ja": 142_000,
    "summarisation": 33_000,
}
"""Training sentences at quick scale; at the paper's there are about ten times as many."""
BATCH, SHARD = 128, 4_096
"""Sentences that are written, and kept, together on a GPU."""


def distil_step(task: Task, setting: Setting, corpus: Step, teacher: Step) -> Step:
    """Distil a corpus with the beam search of a teacher: 4 hypotheses, as the paper's baseline has."""
    count = {"toy": 100, "quick": SENTENCES[task.name], "paper": 2_000_000}[setting.scale]
    return Step(
        label=f"{task.name}.distilled",
        run=distil_corpus,
        inputs={"corpus": corpus, "teacher": teacher},
        config={"beam": 4},
        seconds=1 + count / RATE[setting.scale],
        resumes=True,
    )


def distil_corpus(job: Job) -> None:
    """Write ``corpus``: dev and test as they were, train with the teacher's targets."""
    beam, gpu = job.config["beam"], torch.cuda.is_available()
    distil(
        job.inputs["teacher"] / MODEL,
        job.inputs["corpus"] / CORPUS,
        job.out / CORPUS,
        Distillation(beam=beam, batch_size=BATCH, shard=SHARD) if gpu else Distillation(beam=beam),
        # Graphs are worth it where there is much to write; test sets are decoded by the plain engine.
        engine=AUTO,
        progress=lambda done, total: job.tell(f"{done:,} of {total:,} sentences"),
    )
