"""From text files to stores, one for each split, and the tokenizers beside them. Never prints.

    FOLDER/tokenizer.json            of the target, and of the source where they share one vocabulary
    FOLDER/source_tokenizer.json     of the source where they do not
    FOLDER/train, dev, test, …       stores
    FOLDER/prepare.json              from what and how they were made

The folder is whole or not there, and memory does not grow with the corpus.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from levt.data.folder import new_folder
from levt.data.preparation import TRAIN, Preparation, Progress, SplitReport
from levt.data.read import Corpus
from levt.data.sample import sample
from levt.data.split import Split, watched
from levt.errors import ConfigError, InputError, StoreError
from levt.text.normalise import Normalisation
from levt.text.tokenizer import Tokenizer

TOKENIZER = "tokenizer.json"
SOURCE_TOKENIZER = "source_tokenizer.json"


def prepare(
    out: Path,
    splits: Mapping[str, Sequence[Corpus]],
    settings: Preparation,
    *,
    tokenizer: Tokenizer | None = None,
    source_tokenizer: Tokenizer | None = None,
    processes: int = 1,
    progress: Progress = lambda stage, done, total: None,
) -> dict[str, SplitReport]:
    """Write the stores of all splits and their tokenizers to the new folder ``out``.

    Without ``tokenizer`` one is learnt from the training split (two, if the vocabularies are separate). So many
    ``processes`` encode the training split; their number changes no byte of it.
    """
    if processes < 1:
        raise ConfigError(
            f"processes must be at least 1, got {processes}", hint="--processes 1 is the default"
        )
    splits = {name: corpora for name, corpora in splits.items() if corpora}
    if not splits:
        raise InputError("there is nothing to prepare", hint="give at least --train SOURCE TARGET")
    if tokenizer is None and source_tokenizer is not None:
        raise ConfigError(
            "a source tokenizer was given without one for the target",
            hint="--tokenizer FILE --source-tokenizer FILE",
        )
    if tokenizer is not None and settings.normalisation != Normalisation():
        raise ConfigError(
            "a given tokenizer normalises text in its own way",
            hint="--form, --lowercase and --collapse-spaces are for learning one",
        )
    if tokenizer is not None and settings.separate and source_tokenizer is None:
        raise ConfigError(
            "separate vocabularies need two tokenizers, one was given", hint="--source-tokenizer FILE"
        )
    if tokenizer is None and TRAIN not in splits:
        raise InputError(
            "a vocabulary can only be learnt from training data", hint="give --train or --tokenizer"
        )
    if tokenizer is None:
        for path in (path for corpus in splits[TRAIN] for path in corpus.files):
            if not path.is_file():
                raise InputError(
                    f"{path} can be read only once, and training data is read twice: for the vocabulary, then for all",
                    hint="write it to a file, or give --tokenizer",
                )
    with new_folder(out) as folder:
        if tokenizer is None:
            tokenizer, source_tokenizer = _learn(splits[TRAIN], settings, progress)
        tokenizer.save(folder / TOKENIZER)
        if source_tokenizer is not None:
            source_tokenizer.save(folder / SOURCE_TOKENIZER)
        elsewhere: set[int] | None = set() if settings.drop_overlap else None
        reports: dict[str, SplitReport] = {}
        # Training comes last, when the sources of the other splits are known.
        for name in sorted(splits, key=lambda name: name == TRAIN):
            split = Split(
                name,
                splits[name],
                settings,
                source=source_tokenizer or tokenizer,
                target=tokenizer,
                elsewhere=elsewhere,
                processes=processes if name == TRAIN else 1,
            )
            reports[name] = split.write(folder / name, progress)
        reports = {name: reports[name] for name in splits}
        _write_note(folder / "prepare.json", splits, settings, reports)
    return reports


def load_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizers of source and target that lie in a prepared folder; one and the same where shared."""
    check_corpus(folder)
    target = Tokenizer.load(folder / TOKENIZER)
    separate = folder / SOURCE_TOKENIZER
    return (Tokenizer.load(separate) if separate.exists() else target), target


def check_corpus(folder: Path) -> None:
    """Raise a StoreError where there is no corpus."""
    hint = (
        f"`levt prepare --train SOURCE TARGET --dev SOURCE TARGET --out {folder}` makes one from text files"
    )
    if not folder.exists():
        raise StoreError(f"there is no corpus folder {folder}", hint=hint)
    if not (folder / TOKENIZER).is_file():
        what = f"it has no {TOKENIZER}" if folder.is_dir() else "it is a file"
        another = f"name a folder that `levt prepare` or `levt distill` wrote; {hint.replace(str(folder), 'FOLDER')}"
        raise StoreError(f"{folder} is no corpus: {what}", hint=another)


def _learn(
    corpora: Sequence[Corpus], settings: Preparation, progress: Progress
) -> tuple[Tokenizer, Tokenizer | None]:
    """The tokenizer of the target and, where it is another, that of the source."""
    records = watched(corpora, settings.sieve(TRAIN), Counter(), "sampling", progress)
    texts = ((record.source, record.target) for record in records)
    held = sample(texts, most=settings.sample, characters=settings.sample_characters)
    if not held:
        raise InputError(
            "the training data has no usable line to learn a vocabulary from",
            hint="lines that are empty or very long are skipped: look at the files of --train",
        )

    def learnt(lines: Iterable[str]) -> Tokenizer:
        return Tokenizer.train(lines, settings.vocabulary, normalisation=settings.normalisation)

    progress("learning the vocabulary", 0, 0)
    if settings.separate:
        return learnt(target for _, target in held), learnt(source for source, _ in held)
    return learnt(text for pair in held for text in pair), None


def _write_note(
    path: Path,
    splits: Mapping[str, Sequence[Corpus]],
    settings: Preparation,
    reports: Mapping[str, SplitReport],
) -> None:
    """Leave word of what went in and what came out; nothing in it depends on the clock."""
    note = {
        "settings": asdict(settings),
        "splits": {
            name: {
                "files": [[file.name for file in corpus.files] for corpus in splits[name]],
                **{key: value for key, value in asdict(report).items() if key != "seconds"},
            }
            for name, report in reports.items()
        },
    }
    path.write_text(json.dumps(note, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
