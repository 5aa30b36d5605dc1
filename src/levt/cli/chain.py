"""Train a teacher, distil, train a student: the whole way in one command that can be run again."""

import os
import sys
from collections.abc import Sequence


def chain(argv: Sequence[str]) -> None:
    """Train a teacher, distil its knowledge, train a student: one command, which can be run again.

    usage: levt chain TEACHER STUDENT [--corpus FOLDER] [--out FOLDER] [--teacher.training.max-steps N] …

    Example: levt chain multi30k-ar multi30k-levt-distilled --corpus corpora/multi30k --out runs/multi30k

    TEACHER and STUDENT are recipes, as `levt train` takes them; every field of theirs is a flag, and so
    are those of the distillation: `levt chain TEACHER STUDENT --help` lists them. Each step goes on where
    it stopped and is skipped when it is done. The student's best model is OUT/student/best. Under torchrun
    all processes train, and decode, together.
    """
    from levt.cli._layout import folded, paragraphs
    from levt.errors import ConfigError

    if not argv or argv[0] in ("-h", "--help"):
        with folded():
            print(paragraphs(chain.__doc__))
        return
    if len(argv) < 2 or argv[0].startswith("-") or argv[1].startswith("-"):
        raise ConfigError(
            "a chain needs two recipes, TEACHER and STUDENT, before its options",
            hint="`levt train --help` lists them, `levt chain --help` has an example",
        )
    from dataclasses import replace
    from pathlib import Path

    import tyro

    from levt.cli._progress import bar
    from levt.cli._reading import read
    from levt.recipes import recipe
    from levt.recipes.chain import Chain, run_chain
    from levt.recipes.passed_over import check_changes, check_distillation

    teacher, student = recipe(argv[0]), recipe(argv[1])
    default = Chain(
        corpus=teacher.corpus,
        out=Path("runs") / f"{student.out.name}-chain",
        teacher=teacher,
        student=student,
    )
    found = read(
        tyro.conf.AvoidSubcommands[Chain],
        argv[2:],
        prog=f"levt chain {argv[0]} {argv[1]}",
        default=default,
    )
    for name, given, known in (("teacher", found.teacher, teacher), ("student", found.student, student)):
        for place in ("corpus", "out"):
            if getattr(given, place) != getattr(known, place):
                raise ConfigError(
                    f"--{name}.{place} cannot be chosen: the chain decides where everything lies",
                    hint="--corpus and --out are for the whole chain",
                )
        check_changes(replace(given, corpus=found.corpus), known, f"{name}.")
    check_distillation(found.distillation, found.teacher.model.kind, "distillation.")
    if found.student.repair not in (student.repair, (found.corpus,), ()):
        raise ConfigError(
            "--student.repair cannot be chosen: the student repairs the corpus of its teacher",
            hint=f"--student.repair {found.corpus}, or leave it out",
        )

    def say(text: str) -> None:
        if os.environ.get("RANK", "0") == "0":
            print(text, file=sys.stderr)

    done = run_chain(found, say=say, bar=lambda: bar("decoding", "sentences"))
    say(f"student: {found.out / 'student' / 'best'}" if done else "stopped; run again to go on")


RAW = True
"""The verb reads its own arguments: what flags there are depends on the recipes."""
