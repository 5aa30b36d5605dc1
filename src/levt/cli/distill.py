"""``levt distill``: let a teacher rewrite the targets of a corpus."""

from pathlib import Path

import tyro

from levt.cli._flags import Flag, Folder, Maybe, ModelName
from levt.cli._layout import counted
from levt.recipes.distillation import Distillation

DEFAULT = Distillation()


def distill(
    teacher: ModelName,
    corpus: Folder,
    out: Path,
    settings: tyro.conf.OmitArgPrefixes[Distillation] = DEFAULT,
    processes: Maybe[int] = None,
    engine: str = "auto",
    device: Maybe[str] = None,
    ray_address: Maybe[str] = None,
    json: Flag = False,
) -> None:
    """Let a teacher rewrite the targets of a corpus, for `levt train` to learn from.

    Example: levt distill runs/multi30k-ar/best corpora/multi30k --out corpora/multi30k-distilled

    Killed at any moment, it goes on from what was finished when it is run again, and gives the same corpus.
    Several such commands, or torchrun, share the work.

    Args:
        teacher: Model of any kind: the name of a bundled one, a folder, or an id of the hub.
        corpus: Folder that `levt prepare` has written; its drafts, dev and test sets are taken over.
        out: New folder for the corpus.
        settings: How the teacher writes.
        processes: Processes that decode side by side (1); with `--engine ray` workers (all there is room for).
        engine: What runs the teacher, as in `levt translate`; ray or ray:NAME: a cluster, one teacher per worker.
        device: cpu, cuda or cuda:N; by default a GPU where there is one.
        ray_address: Cluster of Ray to use: `auto` or HOST:PORT; by default RAY_ADDRESS, else this machine.
        json: Print the report as JSON on stdout.
    """
    import sys
    from dataclasses import asdict
    from json import dumps

    from levt.cli._progress import bar
    from levt.cli._shards import Folders, runner
    from levt.policy.folder import open_folder
    from levt.policy.hub import resolve
    from levt.recipes.distil import distil
    from levt.recipes.passed_over import check_distillation

    folders = Folders(processes=processes, ray_address=ray_address)
    engine, who = runner(engine, folders, device)
    check_distillation(settings, open_folder(resolve(teacher)).model.kind)
    with bar("decoding", "sentences") as progress:
        found = distil(resolve(teacher), corpus, out, settings, engine=engine, runner=who, progress=progress)
    print(f"{out}: {counted(found.examples, 'example')}", file=sys.stderr)
    for reason, count in found.kept.items():
        print(f"  {count:,} kept their reference: {reason}", file=sys.stderr)
    if json:
        print(dumps(asdict(found)))
