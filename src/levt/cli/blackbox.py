"""Train and ask black boxes: the systems whose drafts are to be repaired."""

import sys
from pathlib import Path
from typing import Annotated

import tyro

from levt.cli._flags import Maybe, Two
from levt.cli._layout import counted


def train_phrase(
    train: tuple[Path, Path],
    out: Path,
    dev: Two = None,
    tune_lines: Maybe[int] = None,
    longest: int = 5,
    options: int = 10,
    order: int = 3,
    limit: Maybe[int] = None,
) -> None:
    """Train a phrase-based system on a parallel corpus, in minutes on one core.

    Example: levt blackbox train-phrase --train half.en half.de --dev val.en val.de --out phrases

    Args:
        train: SOURCE and TARGET, line by line; may end in .gz or .xz.
        out: New folder to write; it must not exist yet.
        dev: SOURCE and TARGET on which the weights are tuned; without them they stay as they come.
        tune_lines: Lines of the dev set that are used, at most (300).
        longest: Words of the longest phrase.
        options: Translations kept for each source phrase.
        order: Words of the longest n-gram of the language model.
        limit: Use only so many lines of the training data; by default all.
    """
    import time
    from itertools import islice

    from levt.data.aligned import aligned
    from levt.errors import ConfigError, InputError, StoreError
    from levt.recipes.black_boxes.phrase.system import PhraseSystem, PhraseTraining
    from levt.refine.ranges import Range

    for name, lines in (("tune-lines", tune_lines), ("limit", limit)):
        if lines is not None and (problem := Range(1, sys.maxsize).problem(lines, whole=True)):
            raise ConfigError(f"{name} {problem}", hint=f"leave out --{name}")
    if tune_lines is not None and dev is None:
        raise ConfigError("--tune-lines is for a dev set, which is not given", hint="--dev SOURCE TARGET")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        # Now rather than after the training.
        raise StoreError(f"{out} exists already", hint="remove it or choose another folder")
    settings = PhraseTraining(longest=longest, options=options, order=order)
    held = list(islice(aligned(*dev), 300 if tune_lines is None else tune_lines)) if dev is not None else []
    if dev is not None and not held:
        raise InputError(f"there is nothing to tune on: {dev[0]} is empty", hint="leave out --dev")
    pairs = list(islice(aligned(*train), limit))
    begun = time.perf_counter()
    print(f"{counted(len(pairs), 'pair')}: aligning and extracting", file=sys.stderr)
    system = PhraseSystem.train([x for x, _ in pairs], [y for _, y in pairs], settings)
    print(f"trained in {time.perf_counter() - begun:.1f} s", file=sys.stderr)
    if held:
        from levt.recipes.black_boxes.phrase.tuning import tune

        def show(done: int, total: int, best: float) -> None:
            print(f"tuning {done}/{total}: BLEU {best:.2f}", file=sys.stderr)

        tune(system, [x for x, _ in held], [y for _, y in held], progress=show)
    system.save(out)
    print(f"{out}: {counted(len(system.table.words), 'phrase pair')}", file=sys.stderr)


def translate(
    spec: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BLACK-BOX")],
    *,
    batch_size: int = 500,
    processes: int = 1,
    timeout: Maybe[float] = None,
    beam: Maybe[int] = None,
) -> None:
    """Translate standard input, line by line, to standard output, by any black box.

    Example: levt blackbox translate phrase:phrases < test.en > drafts.de

    Args:
        spec: levt:FOLDER, phrase:FOLDER, command:COMMAND, or the address of a service (http://…).
        batch_size: Lines of one call.
        processes: How many black boxes work side by side.
        timeout: Seconds for each call of a command or a service (600).
        beam: Of a model folder that writes from left to right.
    """
    from functools import partial
    from io import BufferedReader
    from typing import cast

    from levt.cli._lines import one_line, progress, texts
    from levt.errors import ConfigError
    from levt.recipes.black_boxes import answered, open_black_box
    from levt.recipes.black_boxes.side_by_side import translated

    if batch_size < 1 or processes < 1:
        raise ConfigError(
            f"batch_size and processes must be at least 1, got {batch_size} and {processes}",
            hint="500 and 1 are the defaults",
        )
    stream, out = cast(BufferedReader, sys.stdin.buffer), sys.stdout.buffer
    opened = partial(open_black_box, spec, timeout=timeout, beam=beam)
    with progress() as tick:
        for asked, answers in translated(texts(stream.read1, batch_size), opened, processes):
            for text in answered(spec, asked, answers):
                out.write(f"{one_line(text)}\n".encode())
                tick()
            out.flush()


COMMANDS = {"train-phrase": train_phrase, "translate": translate}
