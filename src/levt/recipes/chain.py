"""The whole way in one go: train a teacher, let it rewrite the targets, train a student on them.

    OUT/teacher     the run of the teacher
    OUT/corpus      the distilled corpus
    OUT/student     the run of the student; its best model is what the chain is for

Each step goes on where it stopped, and is skipped when it is done.
"""

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from levt.data.prepare import check_corpus
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.policy.inherit import differences
from levt.recipes.distil import distil
from levt.recipes.distillation import Distillation, Progress
from levt.recipes.experiment import Experiment, check_ahead, finished, run
from levt.refine.ranges import MANY, Range, check_numbers


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A teacher, a student, and what lies between them."""

    corpus: Path
    """Folder that `levt prepare` has written: of the teacher, and through it of the student."""
    out: Path
    """Folder of the chain; it decides where both runs and the distilled corpus lie."""
    teacher: Experiment
    """How the teacher is trained."""
    student: Experiment
    """How the student is trained."""
    distillation: Distillation = field(default_factory=Distillation)
    """How the teacher writes."""
    warm: bool = True
    """The student begins with its teacher's weights where their networks agree and it has no `init` of its own."""
    processes: int = 1
    """Processes that decode side by side, on the cores of a CPU or sharing a GPU."""

    def __post_init__(self) -> None:
        check_numbers("chain", self, {"processes": Range(1, MANY)})

    def placed(self) -> tuple[Experiment, Experiment]:
        """Teacher and student in the folders of the chain."""
        teacher = dataclasses.replace(self.teacher, corpus=self.corpus, out=self.out / "teacher")
        student = dataclasses.replace(
            self.student,
            corpus=self.out / "corpus",
            out=self.out / "student",
            # What it repairs are the references that the teacher has learnt from.
            repair=(self.corpus,) if self.student.repair else (),
            init=teacher.out / "best" if self.begins_as_teacher else self.student.init,
        )
        return teacher, student

    @property
    def begins_as_teacher(self) -> bool:
        """Whether the student begins with what its teacher knows."""
        teacher, student = self.teacher.model, self.student.model
        return (
            self.warm
            and self.student.init is None
            and isinstance(student, LevTConfig)
            and type(teacher) is AutoregressiveConfig
            and not differences(student, teacher)
        )


def run_chain(
    chain: Chain,
    *,
    say: Callable[[str], None] = lambda text: None,
    bar: Callable[[], AbstractContextManager[Progress]] = lambda: nullcontext(lambda done, total: None),
) -> bool:
    """Take every step that is not done; False where somebody asked to stop."""
    teacher, student = chain.placed()
    check_corpus(chain.corpus)
    # Now, not when the teacher has been trained; the vocabulary of its corpus is that of the student's.
    check_ahead(dataclasses.replace(student, corpus=chain.corpus, init=chain.student.init))
    if finished(teacher):
        say(f"teacher: done, {teacher.out / 'best'}")
    else:
        say(f"teacher: training in {teacher.out}")
        run(teacher, stay=True)
        if not finished(teacher):
            return False
    say(f"distilling to {student.corpus}")
    with bar() as progress:
        found = distil(
            teacher.out / "best",
            chain.corpus,
            student.corpus,
            chain.distillation,
            processes=chain.processes,
            device=teacher.device,
            progress=progress,
        )
    for reason, count in found.kept.items():
        say(f"  {count:,} of {found.examples:,} kept their reference: {reason}")
    if finished(student):
        say(f"student: done, {student.out / 'best'}")
        return True
    begin = ", begun as its teacher" if chain.begins_as_teacher else ""
    say(f"student: training in {student.out}{begin}")
    run(student)
    return finished(student)
