"""Make synthetic post-editing data: halves of a corpus, drafts by a black box, mixtures with real triples."""

import sys
from pathlib import Path

from levt.cli._flags import Maybe
from levt.cli._layout import counted

WINDOW = 1024
"""Lines that are taken from a pipe at a time, at most."""


def halves(train: tuple[Path, Path], out: Path, share: float = 0.5, seed: int = 0) -> None:
    """Part a parallel corpus: one half to train a black box, the other to be translated by it.

    Equal sources are always in the same half.

    Example: levt synthesize halves --train train.en train.de --out halves

    Args:
        train: SOURCE and TARGET, line by line; may end in .gz or .xz.
        out: New folder to write: first/ and second/, each with source.txt and target.txt.
        share: Share of the corpus that becomes the first half.
        seed: Number that decides what goes where; another one parts the corpus otherwise.
    """
    from levt.recipes.synthesis import halves as run

    first, second = run(*train, out, share=share, seed=seed)
    print(f"{out}: {counted(first, 'pair')} in first, {second:,} in second", file=sys.stderr)


def drafts(
    train: tuple[Path, Path],
    black_box: str,
    out: Path,
    processes: int = 1,
    chunk: int = 500,
    timeout: Maybe[float] = None,
    beam: Maybe[int] = None,
) -> None:
    """Translate a corpus by a black box: triples of source, draft and target, ready for `levt prepare --draft`.

    A run that was stopped goes on where it was.

    Example: levt synthesize drafts --train half2.en half2.de --black-box phrase:phrases --out triples

    Args:
        train: SOURCE and TARGET, line by line; may end in .gz or .xz.
        black_box: levt:FOLDER, phrase:FOLDER, command:COMMAND, or the address of a service (http://…).
        out: Folder to write: source.txt, draft.txt and target.txt.
        processes: How many black boxes work side by side.
        chunk: Lines of one call; so many are lost, for each process, by an interruption.
        timeout: Seconds for each call of a command or a service (600).
        beam: Of a model folder that writes from left to right.
    """
    from levt.cli._progress import Stages
    from levt.recipes.synthesis import Synthesis, write_drafts

    settings = Synthesis(black_box=black_box, chunk=chunk, processes=processes, timeout=timeout, beam=beam)
    with Stages() as bars:
        count = write_drafts(
            *train, out, settings, progress=lambda done, total: bars.show("drafts", done, total)
        )
    print(f"{out}: {counted(count, 'triple')}", file=sys.stderr)
    print(
        f"hint: levt prepare --draft --train {out}/source.txt {out}/draft.txt {out}/target.txt …",
        file=sys.stderr,
    )


def mix(synthetic: tuple[Path, ...], real: tuple[Path, ...], out: Path, times: int = 10) -> None:
    """Join synthetic triples with real ones that are repeated, so that the few count as much as the many.

    Example: levt synthesize mix --synthetic triples --real real.en real.mt real.de --out mixed

    Args:
        synthetic: SOURCE DRAFT TARGET, or a folder that `levt synthesize drafts` wrote.
        real: SOURCE DRAFT TARGET, or such a folder.
        out: New folder to write: source.txt, draft.txt and target.txt.
        times: How often the real ones are repeated.
    """
    from levt.recipes.synthesis import mix as run

    some, others = run(synthetic, real, out, times=times)
    print(
        f"{out}: {counted(some, 'synthetic triple')}, {counted(others, 'real one')} ({counted(times, 'time')} each)",
        file=sys.stderr,
    )


def words() -> None:
    """Put the words of standard input apart, line by line, as post-editing data has them: 'Yes, 5.' → 'Yes , 5 .'

    Example: levt synthesize words < train.de > apart.de
    """
    from io import BufferedReader
    from typing import cast

    from levt.cli._lines import texts
    from levt.recipes.post_editing_words import words_apart

    stream, out = cast(BufferedReader, sys.stdin.buffer), sys.stdout.buffer
    for some in texts(stream.read1, WINDOW):
        for text in some:
            out.write(f"{words_apart(text)}\n".encode())
        out.flush()


COMMANDS = {"halves": halves, "drafts": drafts, "mix": mix, "words": words}
