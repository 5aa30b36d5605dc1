"""Steps that make corpora of post-editing, all of a language with one vocabulary, and that train black boxes.

``pairs_corpus`` learns the vocabulary; its ``corpus/tokenizer.json`` serves the triples, so that a translation model
can be used, and trained further, on them.
"""

from collections.abc import Mapping
from pathlib import Path

from levt.data.aligned import aligned
from levt.data.preparation import Preparation
from levt.data.prepare import load_tokenizers, prepare
from levt.data.read import Corpus, corpora
from levt.recipes.black_boxes.phrase.system import PhraseSystem, PhraseTraining
from levt.recipes.post_editing_triples import files
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.distilling import distil_corpus
from levt.recipes.reproduce.parts.post_editing_language import Language
from levt.recipes.reproduce.parts.post_editing_pairs import processes
from levt.recipes.reproduce.parts.post_editing_task import PostEditingTask
from levt.recipes.reproduce.parts.prepare import CORPUS, MAX_LENGTH

SYSTEM = "system"
LARGE = 4 << 20
"""Bytes of texts that are worth several processes."""


def pairs_corpus(language: Language, pairs: Step, real: list[Step]) -> Step:
    """Translation data: the pairs of a language, and the sources of real triples with their post-edits."""
    inputs: dict[str, Step | Path] = {"pairs": pairs, **{f"real.{i}": step for i, step in enumerate(real)}}
    return Step(
        label=f"{language.name}.pairs-corpus",
        run=prepare_pairs,
        inputs=inputs,
        config={"vocabulary": language.vocabulary} | ({"separate": True} if language.separate else {}),
        seconds=1.0 if language.toy else 40.0,
        light=True,
    )


def prepare_pairs(job: Job) -> None:
    """Write ``corpus``."""
    pairs = job.inputs["pairs"]
    splits = {
        split: corpora([pairs / f"{split}.src", pairs / f"{split}.tgt"]) for split in ("train", "dev", "test")
    }
    for name, folder in sorted(job.inputs.items()):
        if name.startswith("real."):
            source, _, target = files(folder, "train")
            splits["train"] += corpora([source, target])
    settings = Preparation(
        vocabulary=job.config["vocabulary"],
        separate=job.config.get("separate", False),
        max_length=MAX_LENGTH,
        drop_overlap=True,
    )
    prepare(
        job.out / CORPUS, splits, settings, processes=processes_for(splits["train"]),
        progress=lambda stage, done, total: job.tell(stage),
    )  # fmt: skip


def processes_for(train: list[Corpus]) -> int:
    """Processes that encode the training examples: one where there is little to do."""
    size = sum(path.stat().st_size for corpus in train for path in corpus.files)
    return processes() if size > LARGE else 1


def half_corpus(language: Language, pairs: Step, vocabulary: Step) -> Step:
    """The first half of the first set alone, for a black box that is a network."""
    return Step(
        label=f"{language.name}.half-corpus",
        run=prepare_half,
        inputs={"pairs": pairs, "vocabulary": vocabulary},
        seconds=1.0 if language.toy else 15.0,
        light=True,
    )


def prepare_half(job: Job) -> None:
    """Write ``corpus``."""
    pairs = job.inputs["pairs"]
    splits = {
        split: corpora([pairs / f"{part}.src", pairs / f"{part}.tgt"])
        for split, part in (("train", "first"), ("dev", "dev"))
    }
    prepare_like(job, splits, Preparation(max_length=MAX_LENGTH))


def prepare_like(job: Job, splits: Mapping[str, list[Corpus]], settings: Preparation) -> None:
    """Write ``corpus`` with the vocabulary of another, or with both of its vocabularies."""
    source, target = load_tokenizers(job.inputs["vocabulary"] / CORPUS)
    prepare(
        job.out / CORPUS,
        splits,
        settings,
        tokenizer=target,
        source_tokenizer=None if source is target else source,
        processes=processes_for(splits["train"]),
    )


def triples_corpus(task: PostEditingTask, triples: Step, vocabulary: Step, *, part: str = "corpus") -> Step:
    """The triples of a task, with the vocabulary of its language."""
    return Step(
        label=f"{task.name}.{part}",
        run=prepare_triples,
        inputs={"triples": triples, "vocabulary": vocabulary},
        seconds=1.0 if task.language.toy else 15.0,
        light=True,
    )


def prepare_triples(job: Job) -> None:
    """Write ``corpus``."""
    splits = {
        split: corpora(files(job.inputs["triples"], split), draft=True) for split in ("train", "dev", "test")
    }
    prepare_like(job, splits, Preparation(max_length=MAX_LENGTH, drop_overlap=True))


def taught_corpus(language: Language, corpus: Step, teacher: Step) -> Step:
    """A corpus of pairs or triples with the targets that a teacher writes for its sources (Table 3, underlined)."""
    return Step(
        label=f"{corpus.label}.distilled",
        run=distil_corpus,
        inputs={"corpus": corpus, "teacher": teacher},
        config={"beam": 4},
        seconds=1.0 if language.toy else 1_000.0,
        resumes=True,
    )


def phrase_step(language: Language, pairs: Step, *, back: bool = False) -> Step:
    """A phrase-based system of the first half, or one for the way back: ``system``."""
    return Step(
        label=f"{language.name}.phrase-system{'-back' if back else ''}",
        run=train_phrases,
        inputs={"pairs": pairs},
        config={"back": back},
        seconds=0.5 if language.toy else 120.0,
        light=True,
    )


def train_phrases(job: Job) -> None:
    """Align, extract and count; weights as they come."""
    rows = list(aligned(job.inputs["pairs"] / "first.src", job.inputs["pairs"] / "first.tgt"))
    sides = [x for x, _ in rows], [y for _, y in rows]
    sources, targets = sides[::-1] if job.config["back"] else sides
    PhraseSystem.train(sources, targets, PhraseTraining()).save(job.out / SYSTEM)


def trip_corpus(language: Language, trip: Step, vocabulary: Step) -> Step:
    """The triples of a round trip."""
    return Step(
        label=f"{language.name}.round-trip-corpus",
        run=prepare_triples,
        inputs={"triples": trip, "vocabulary": vocabulary},
        seconds=1.0 if language.toy else 15.0,
        light=True,
    )
