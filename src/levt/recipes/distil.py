"""Distilling: the targets of a corpus become what a teacher writes. The result is a corpus like any other.

    OUT                    tokenizers, dev and test as they were, train with the teacher's targets, distill.json
    OUT.work               while it lasts: the finished pieces; run the command again to go on from them

Every example has exactly one target, in order. Where the teacher has nothing to offer (an empty output, one
that never ends, one that is too long to learn from, a source it cannot read) the reference stays, counted.
"""

import dataclasses
import json
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from levt.data.columns import flat
from levt.data.folder import check_name, new_folder
from levt.data.prepare import check_corpus, load_tokenizers
from levt.data.store import META, Store
from levt.data.write import StoreWriter
from levt.errors import StoreError
from levt.policy.folder import Tokenizers, open_folder
from levt.recipes.distillation import Distillation, Progress
from levt.recipes.shards import Shards, held, shared, trouble_told
from levt.recipes.teacher import TRAIN, Teaching
from levt.recipes.workers import Local, Runner

NOTE = "distill.json"
SPEED = ("shard", "batch_size")
"""Settings on which no target depends."""


@dataclass(frozen=True)
class Distilled:
    """What came of it."""

    examples: int
    """Examples of the training split: as many as there were."""
    kept: dict[str, int]
    """How many kept their reference, by reason."""


def distil(
    teacher: Path,
    corpus: Path,
    out: Path,
    settings: Distillation | None = None,
    *,
    processes: int = 1,
    device: str | None = None,
    engine: str = "auto",
    runner: Runner | None = None,
    progress: Progress = lambda done, total: None,
) -> Distilled:
    """Write the corpus ``out``; what was done before is not done again, and a finished one is left as it is.

    Without a ``runner`` the work is done by so many processes of our own.
    """
    settings = settings or Distillation()
    runner = runner or Local(processes=processes, device=device)
    check_name(out)
    check_corpus(corpus)
    store = Store.open(corpus / TRAIN)
    store.verify()
    identity = identity_of_work(teacher, store, settings)
    done(out, identity)  # one that came of other work is refused before anything is made
    work = out.with_name(f"{out.name}.work")
    with trouble_told(work), shared(work):
        if (found := done(out, identity)) is None:
            shards = Shards(work, count=len(store), size=settings.shard, identity=identity)
            teaching = Teaching(
                teacher=teacher, corpus=corpus, settings=settings, pieces=shards, engine=engine
            )
            runner(teaching, progress)
            # Several commands may have worked on this together: one writes, the others find it written.
            with held(work / "assemble.lock", wait=True):
                if (found := done(out, identity)) is None:
                    found = assemble(corpus, store, out, shards, identity)
    return found


def identity_of_work(teacher: Path, store: Store, settings: Distillation) -> dict[str, Any]:
    """What the result depends on: the teacher's weights, every token of the corpus, the settings."""
    model = open_folder(teacher)
    return {
        "teacher": {"kind": model.model.kind, **{name: file.sha256 for name, file in model.files.items()}},
        "corpus": store.identity,
        "settings": {k: v for k, v in dataclasses.asdict(settings).items() if k not in SPEED},
    }


def done(out: Path, identity: dict[str, Any]) -> Distilled | None:
    """What a corpus that is already there says of itself; one that came of other work is an error."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    try:
        note = json.loads((out / NOTE).read_text("utf-8"))
        if {key: note[key] for key in identity} == identity:
            return Distilled(note["examples"], note["kept"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise StoreError(
        f"{out} exists already and was not made from this teacher and corpus with these settings",
        hint="remove it or choose another folder",
    )


def assemble(corpus: Path, store: Store, out: Path, shards: Shards, identity: dict[str, Any]) -> Distilled:
    """Put the finished pieces together to a corpus; nothing in it depends on who did what, or when."""
    tokenizers = Tokenizers(*load_tokenizers(corpus))
    known = {"source": tokenizers.source, "draft": tokenizers.target, "target": tokenizers.target}
    kept: Counter[str] = Counter()
    with new_folder(out) as folder:
        for path in sorted(corpus.iterdir()):
            # Nothing else that may lie there: runs, hidden files, or this very corpus on its way.
            if (path / META).is_file() and path.name != TRAIN:
                shutil.copytree(path, folder / path.name)
            elif path.is_file() and not path.name.startswith("."):
                shutil.copy2(path, folder / path.name)
        (folder / TRAIN).mkdir()
        writer = StoreWriter(
            folder / TRAIN, {field: (known[field].size, known[field].fingerprint) for field in store.fields}
        )
        try:
            for piece in range(shards.number):
                rows, found = shards.rows(piece), shards.read(piece, targets=list, kept=dict)
                targets = found["targets"]
                if len(targets) != len(rows):
                    raise StoreError(
                        f"piece {piece} has {len(targets)} targets for {len(rows)} sources",
                        hint=f"remove {shards.folder} and begin again",
                    )
                where = np.arange(rows.start, rows.stop)
                columns = {field: store.gather(field, where) for field in store.fields if field != "target"}
                columns["target"] = flat(
                    [
                        store.target(i).tolist() if target is None else target
                        for i, target in zip(rows, targets, strict=True)
                    ]
                )
                writer.add_flat(columns)
                kept.update(found["kept"])
            writer.close()
        finally:
            writer.abandon()
        result = Distilled(len(store), dict(sorted(kept.items())))
        note = {**identity, **dataclasses.asdict(result)}
        (folder / NOTE).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    return result
