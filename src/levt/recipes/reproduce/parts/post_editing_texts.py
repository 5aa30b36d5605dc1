"""Steps that write triples for post-editing, real or by a black box.

Every step leaves ``train``, ``dev`` and ``test`` with the ends ``src``, ``mt`` and ``pe``.
"""

import os
import random
import shutil
from itertools import islice
from pathlib import Path

from levt.data.aligned import aligned
from levt.recipes.post_editing_triples import Triples, files, of_rows, read
from levt.recipes.post_editing_words import words_apart
from levt.recipes.redrafting import redrafted
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.parts.post_editing_language import Language
from levt.recipes.reproduce.parts.post_editing_pairs import MANY, processes, write_lines
from levt.recipes.reproduce.parts.post_editing_task import PostEditingTask, triple_files
from levt.recipes.reproduce.parts.toy import WORDS, sentence, target
from levt.recipes.synthesis import Synthesis, write_drafts

SPLITS = ("train", "dev", "test")
ACTIONS = "test.actions"
HELD_OUT = ("dev.*", "test.*")
"""The files of such a step that are read by whoever does not train on it."""
TRIP = 60_000
"""Pairs that go on a round trip, at most."""


def real_step(task: PostEditingTask, setting: Setting) -> Step:
    """The real triples of a task as they are; those for training whose source is in dev or test are left out."""
    if task.language.toy:
        return Step(label="post-editing-toy.triples", run=write_toy_triples, config={"draw": 5}, seconds=0.1)
    inputs: dict[str, Step | Path] = {}
    for split in SPLITS:
        inputs |= triple_files(setting.data, task, split)
    return Step(label=f"{task.name}.triples", run=write_real, inputs=inputs, seconds=5.0, light=True)


def write_real(job: Job) -> None:
    """Write the triples."""
    found = {split: read([job.inputs[f"{split}.{end}"] for end in ("src", "mt", "pe")]) for split in SPLITS}
    found["train"] = found["train"].without([*found["dev"].sources, *found["test"].sources])
    for split, triples in found.items():
        triples.write(files(job.out, split))


def extra_step(task: PostEditingTask, setting: Setting, real: Step) -> Step:
    """Artificial triples that come with the data; a few of the real ones stand for their dev and test sets."""
    inputs: dict[str, Step | Path] = {"real": real}
    inputs |= {f"train.{end}": setting.data / task.extra / f"train.{end}" for end in ("src", "mt", "pe")}
    return Step(label=f"{task.name}.extra", run=write_extra, inputs=inputs, seconds=60.0, light=True)


def write_extra(job: Job) -> None:
    """Write the triples."""
    kept = {split: read(files(job.inputs["real"], split)) for split in ("dev", "test")}
    train = read([job.inputs[f"train.{end}"] for end in ("src", "mt", "pe")])
    train.without([*kept["dev"].sources, *kept["test"].sources]).write(files(job.out, "train"))
    for split, triples in kept.items():
        triples.first(100).write(files(job.out, split))


def redrafts_step(task: PostEditingTask, real: Step) -> Step:
    """The real triples with other drafts; a few of the real ones stand for their dev and test sets."""
    return Step(
        label=f"{task.name}.redrafted",
        run=write_redrafted,
        inputs={"real": real},
        config={"rounds": task.redrafts, "folds": 3 if task.language.toy else 10},
        seconds=0.5 if task.language.toy else 150.0,
        light=True,
    )


def write_redrafted(job: Job) -> None:
    """Write the triples."""
    real = {split: read(files(job.inputs["real"], split)) for split in SPLITS}
    found = redrafted(
        real["train"], folds=job.config["folds"], rounds=job.config["rounds"],
        processes=processes() if len(real["train"]) > 1_000 else 1,
        progress=lambda done, total: job.tell(f"system {done} of {total}"),
    )  # fmt: skip
    found.write(files(job.out, "train"))
    for split in ("dev", "test"):
        real[split].first(100).write(files(job.out, split))


def trip_step(language: Language, pairs: Step, there: Step, back: Step) -> Step:
    """Triples of the second half: its targets translated to the source language and back, nearer than other drafts."""
    return Step(
        label=f"{language.name}.round-trip",
        run=write_trip,
        inputs={"pairs": pairs, "there": there, "back": back},
        config={"most": TRIP},
        seconds=0.5 if language.toy else 60.0,
        light=True,
        resumes=True,
    )


def write_trip(job: Job) -> None:
    """Write the triples; the first ones of the dev and test pairs stand for their dev and test sets, as they are."""
    pairs = job.inputs["pairs"]
    work = job.out / ".trip"
    work.mkdir(exist_ok=True)
    for end in ("src", "tgt"):
        write_lines(
            work / f"second.{end}",
            [x for (x,) in islice(aligned(pairs / f"second.{end}"), job.config["most"])],
        )
    sources, targets = work / "second.src", work / "second.tgt"
    many = processes() if job.config["most"] > MANY and (os.cpu_count() or 1) > 2 else 1
    job.tell("back")
    back = Synthesis(black_box=f"phrase:{job.inputs['back']}/system", chunk=1_000, processes=many)
    write_drafts(targets, targets, work / "back", back)
    job.tell("there")
    there = Synthesis(black_box=f"phrase:{job.inputs['there']}/system", chunk=1_000, processes=many)
    write_drafts(work / "back" / "draft.txt", targets, work / "there", there)
    rows = aligned(sources, work / "there" / "draft.txt", targets)
    of_rows((x, words_apart(y), z) for x, y, z in rows).write(files(job.out, "train"))
    for split in ("dev", "test"):
        some = list(islice(aligned(pairs / f"{split}.src", pairs / f"{split}.tgt"), 100))
        of_rows((x, y, y) for x, y in some).write(files(job.out, split))
    shutil.rmtree(work)


def drafts_step(task: PostEditingTask, pairs: Step, box: Step | str, *, seconds: float) -> Step:
    """Triples whose drafts a black box writes: a step that has trained one, or the name of one."""
    inputs: dict[str, Step | Path] = {"pairs": pairs}
    config = {
        "kind": task.black_box if isinstance(box, Step) else "",
        "box": box if isinstance(box, str) else "",
    }
    if isinstance(box, Step):
        inputs["box"] = box
    return Step(
        label=f"{task.name}.triples",
        run=write_synthetic,
        inputs=inputs,
        config=config,
        seconds=seconds,
        light=task.black_box == "phrase",  # no GPU is asked
        resumes=True,
    )


def write_synthetic(job: Job) -> None:
    """Let the black box translate the second half, dev and test."""
    kind, pairs = job.config["kind"], job.inputs["pairs"]
    names = {"phrase": "phrase:{}/system", "recurrent": "levt:{}/model"}
    spec = names[kind].format(job.inputs["box"]) if kind else job.config["box"]
    for split, part in (("train", "second"), ("dev", "dev"), ("test", "test")):
        work = job.out / f".{split}"
        if not work.exists() and files(job.out, split)[-1].exists():
            continue
        job.tell(f"drafts of {split}")
        settings = Synthesis(
            black_box=spec,
            chunk=1_000 if kind == "phrase" else 8_000,
            processes=processes() if kind == "phrase" else 1,
            beam=1 if kind == "recurrent" else None,
        )
        write_drafts(pairs / f"{part}.src", pairs / f"{part}.tgt", work, settings)
        rows = aligned(work / "source.txt", work / "draft.txt", work / "target.txt")
        of_rows((x, words_apart(y), z) for x, y, z in rows).write(files(job.out, split))
        shutil.rmtree(work)


def write_toy_triples(job: Job) -> None:
    """Triples of the toy language whose drafts have a wrong word, and how somebody might have corrected them."""
    rng = random.Random(job.config["draw"])
    words = sorted(set(WORDS.values()))
    for split, count in (("train", 60), ("dev", 6), ("test", 6)):
        rows, actions = [], []
        for _ in range(count):
            source = sentence(rng)
            right = target(source, "translation").split()
            wrong = list(right)
            places = sorted(rng.sample(range(len(right)), 2), reverse=True)
            for at in places:
                wrong[at] = rng.choice([word for word in words if word != right[at]])
            rows.append((source, " ".join(wrong), " ".join(right)))
            steps = [f"D:{at}:{wrong[at]}\tI:{at}:{right[at]}" for at in places]
            actions.append("\t".join([*steps, "S:0:None"]))
        of_rows(rows).write(files(job.out, split))
        if split == "test":
            write_lines(job.out / ACTIONS, actions)


def triples_of(folder: Path, split: str, most: int | None = None) -> Triples:
    """The triples that such a step has written."""
    found = read(files(folder, split))
    return found if most is None else found.first(most)
