"""``levt prepare``: text files to a folder of token stores, ready for training."""

from pathlib import Path
from typing import Literal

from levt.cli._flags import Flag, Many, Maybe
from levt.cli._layout import counted


def prepare(
    out: Path,
    train: Many[Path] = (),
    dev: Many[Path] = (),
    test: Many[Path] = (),
    draft: Flag = False,
    layout: Literal["auto", "parallel", "tsv", "jsonl"] = "auto",
    vocabulary: Maybe[int] = None,
    separate: Flag = False,
    tokenizer: Maybe[Path] = None,
    source_tokenizer: Maybe[Path] = None,
    form: Literal["NFC", "NFKC", "none"] = "NFC",
    lowercase: Flag = False,
    collapse_spaces: Flag = False,
    max_length: int = 512,
    strict: Flag = False,
    skip_broken: Flag = False,
    drop_overlap: Flag = False,
    sample: Maybe[int] = None,
    processes: int = 1,
    json: Flag = False,
) -> None:
    """Turn text files into a folder of token stores, and learn the vocabulary on the way.

    Example: levt prepare --train train.en train.de --dev val.en val.de --vocabulary 8000 --out corpus

    Files come in twos, SOURCE TARGET, line by line; several twos are joined (for --test they become
    test, test2, …). A .tsv or .jsonl file stands for a whole set; all may end in .gz or .xz. A folder stands for
    the files in it: --train shards/en shards/de, or --train shards where these are tables.

    Args:
        out: New folder to write; it must not exist yet.
        train: Training data; unusable lines are skipped and counted.
        dev: Validation data; kept whole.
        test: Test data; kept whole.
        draft: Files come in threes, SOURCE DRAFT TARGET (tables show by themselves what they have).
        layout: What the files are; auto goes by their names.
        vocabulary: Size of the vocabulary to learn, symbols and bytes included (8000).
        separate: Learn a vocabulary for each side instead of a joint one.
        tokenizer: Use this tokenizer.json instead of learning one.
        source_tokenizer: Another tokenizer.json for the source.
        form: Unicode normal form of the text.
        lowercase: Lose all capitals.
        collapse_spaces: Make every run of white space one space.
        max_length: Longest source, draft or target for training, in tokens with boundaries.
        strict: Stop at training lines that are empty or too long instead of skipping them.
        skip_broken: Skip training lines that are not UTF-8 or lack columns instead of stopping.
        drop_overlap: Leave out training examples whose source is also in dev or test.
        sample: Training examples from which the vocabulary is learnt, at most (400,000).
        processes: Processes that encode the training data; their number changes no byte of the result.
        json: Print the report as JSON on stdout.
    """
    import sys
    import time
    from dataclasses import asdict
    from json import dumps

    from levt.cli._model import given
    from levt.cli._progress import Stages
    from levt.data.preparation import Preparation
    from levt.data.prepare import SOURCE_TOKENIZER, TOKENIZER
    from levt.data.prepare import prepare as run
    from levt.data.read import corpora
    from levt.errors import ConfigError
    from levt.text.normalise import Normalisation
    from levt.text.tokenizer import Tokenizer

    learning = given(vocabulary=vocabulary, sample=sample)
    if tokenizer is not None and learning:
        raise ConfigError(
            f"--{next(iter(learning))} is for learning a tokenizer, and one is given",
            hint="leave it out, or --tokenizer",
        )
    if drop_overlap and not dev and not test:
        raise ConfigError(
            "--drop-overlap compares training with dev and test data, and there is none",
            hint="--dev SOURCE TARGET, or leave it out",
        )
    settings = Preparation(
        separate=separate,
        normalisation=Normalisation(form=form, lowercase=lowercase, collapse_spaces=collapse_spaces),
        max_length=max_length,
        strict=strict,
        skip_broken=skip_broken,
        drop_overlap=drop_overlap,
        **learning,
    )
    kind = None if layout == "auto" else layout
    tests = corpora(test, layout=kind, draft=draft)
    splits = {
        "train": corpora(train, layout=kind, draft=draft),
        "dev": corpora(dev, layout=kind, draft=draft),
        **{f"test{i or ''}": [one] for i, one in zip([0, *range(2, len(tests) + 1)], tests, strict=False)},
    }
    begun = time.perf_counter()
    with Stages() as bars:
        reports = run(
            out,
            splits,
            settings,
            tokenizer=None if tokenizer is None else Tokenizer.load(tokenizer),
            source_tokenizer=None if source_tokenizer is None else Tokenizer.load(source_tokenizer),
            processes=processes,
            progress=bars.show,
        )
    seconds, peak = time.perf_counter() - begun, _peak_memory()
    for name, report in reports.items():
        counts = ", ".join(f"{count:,} {field} tokens" for field, count in report.tokens.items())
        rate = report.examples / max(report.seconds, 1e-9)
        print(
            f"{name}: {counted(report.examples, 'example')}, {counts}, {rate:,.0f} examples/s",
            file=sys.stderr,
        )
        for reason, count in report.skipped.items():
            print(f"  skipped {count:,}: {reason}", file=sys.stderr)
    for name in filter(lambda name: (out / name).exists(), (SOURCE_TOKENIZER, TOKENIZER)):
        size = Tokenizer.load(out / name).size
        short = tokenizer is None and size < settings.vocabulary
        note = (
            f"; {settings.vocabulary:,} were asked for, but the text has no more that occur twice"
            if short
            else ""
        )
        print(f"{name}: {size:,} pieces{note}", file=sys.stderr)
    print(f"{out}: {seconds:.1f} s, peak memory {peak / 1e6:,.0f} MB", file=sys.stderr)
    if json:
        whole = {name: asdict(report) for name, report in reports.items()}
        print(dumps({"splits": whole, "seconds": seconds, "peak_memory_bytes": peak}, indent=1))


def _peak_memory() -> int:
    """The most memory the process has had, in bytes; 0 where the system does not tell."""
    import sys

    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
