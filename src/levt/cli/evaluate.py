"""``levt evaluate``: scores of texts against references, as a table."""

import sys
from collections.abc import Iterable
from json import dumps
from pathlib import Path

from levt.cli._flags import Flag, Maybe
from levt.errors import ConfigError, InputError
from levt.evaluation.scorers import MetricName, Tokenize

UTF_8 = "files hold text in UTF-8, one sentence per line; `iconv -t UTF-8` converts others"


def read(path: Path) -> list[str]:
    """The lines of a file, or of stdin for ``-``; one that is no text is an error."""
    from levt.data.lines import MARK, Lines

    if str(path) == "-":
        try:
            text = sys.stdin.buffer.read().removeprefix(MARK).decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"stdin is not UTF-8 ({error.reason} at byte {error.start})", hint=UTF_8
            ) from None
        *ended, last = text.split("\n")
        return [line.removesuffix("\r") for line in (*ended, *([last] if last else []))]
    texts = []
    for line in Lines(path, max_bytes=1 << 20):
        if line.problem is not None:
            raise InputError(f"{path}, line {line.number}: {line.problem}", hint=UTF_8)
        texts.append(line.text)
    return texts


def evaluate(
    hypothesis: tuple[Path, ...],
    reference: tuple[Path, ...],
    source: Maybe[Path] = None,
    draft: Maybe[Path] = None,
    terms: Maybe[Path] = None,
    metric: tuple[MetricName, ...] = ("bleu", "chrf", "ter"),
    tokenize: Maybe[Tokenize] = None,
    confidence: Flag = False,
    samples: Maybe[int] = None,
    json: Flag = False,
) -> None:
    """Score texts against references: BLEU, chrF, TER, ROUGE and counters, each with its signature.

    Example: levt evaluate --hypothesis ours.de theirs.de --reference test.de --source test.en --confidence

    Files hold one sentence per line, plain text: neither tokenized nor lower-cased. The table is Markdown where
    stdout is not a terminal.

    Args:
        hypothesis: What the systems wrote, a column of the table each; - is stdin.
        reference: What they should have written; several files are alternatives (the counters use the first).
        source: What they translated; adds the share of words that were copied.
        draft: What they started from; adds it as a column of its own, and what became of it.
        terms: The terms each sentence should use, between tabs or semicolons; adds the share that was used.
        metric: What to compute.
        tokenize: How BLEU finds words (13a); char, zh and ja-mecab hold for TER and ROUGE too.
        confidence: Add 95 % intervals, and p-values against the first system (or the draft).
        samples: How many random trials these come from (1000).
        json: Print one JSON object per system instead of a table.
    """
    from levt.cli._console import Output
    from levt.data.terms import terms_of
    from levt.evaluation import metrics
    from levt.evaluation.report import report
    from levt.evaluation.scorers import refuse_unheeded
    from levt.evaluation.table import cells, markdown, rich_table

    if samples is not None and not confidence:
        raise ConfigError("--samples is for --confidence, which is not asked for", hint="add --confidence")
    # What became of drafts is told by TER.
    refuse_unheeded(tokenize, (*metric, "ter") if metric and draft is not None else metric)
    wanted = [metrics.metric(name, tokenize=tokenize) for name in dict.fromkeys(metric)]
    paths = [path for path in (*hypothesis, *reference, source, draft, terms) if path is not None]
    if not hypothesis or not reference:
        raise InputError(
            "there must be at least one file of hypotheses and one of references",
            hint="--hypothesis FILE … --reference FILE …",
        )
    if twice := [path for path in hypothesis if hypothesis.count(path) > 1]:
        raise InputError(f"{twice[0]} is given twice as a hypothesis", hint="name each file once")
    files = read_all(paths)
    rows = report(
        {str(path): files[path] for path in hypothesis},
        [files[path] for path in reference],
        wanted,
        sources=None if source is None else files[source],
        drafts=None if draft is None else files[draft],
        terms=None if terms is None else [terms_of(line) for line in files[terms]],
        samples=(1000 if samples is None else samples) if confidence else None,
    )
    if json:
        for row in rows:
            found = [score.to_json() for score in row.scores]
            print(dumps({"system": row.name, "scores": found}, ensure_ascii=False))
    elif sys.stdout.isatty():
        console = Output()
        console.print(rich_table(rows, flip=True))
        for number, note in enumerate(cells(rows).notes, 1):
            console.print(f"[{number}] {note}", markup=False, highlight=False, soft_wrap=True, style="dim")
    else:
        print(markdown(rows, flip=True))


def read_all(paths: Iterable[Path]) -> dict[Path, list[str]]:
    """The lines of several files, as many in each."""
    paths = [*paths]
    if [str(path) for path in paths].count("-") > 1:
        raise InputError("only one file can be -, which is stdin", hint="name files for the others")
    files = {path: read(path) for path in dict.fromkeys(paths)}
    check_lines(files)
    return files


def check_lines(files: dict[Path, list[str]]) -> None:
    """Raise an InputError where the files have not as many lines as each other, or none."""
    if len({len(lines) for lines in files.values()}) > 1:
        counts = "\n".join(f"  {len(lines):>8}  {path}" for path, lines in files.items())
        raise InputError(
            f"files must have as many lines as each other, got\n{counts}",
            hint="one sentence per line, an empty line where there is nothing",
        )
    if not any(files.values()):
        raise InputError(
            f"there is nothing to read: {next(iter(files))} is empty", hint="one sentence per line"
        )
