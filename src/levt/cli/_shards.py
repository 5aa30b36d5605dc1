"""Folders of shards instead of stdin and stdout: what `translate`, `refine` and `distill` have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from levt.cli._flags import Flag, Many, Maybe

if TYPE_CHECKING:
    from levt.recipes.answering import Answering
    from levt.recipes.workers import Runner


LINES = 10_000
"""Lines of a shard, by default."""


@dataclass(frozen=True, kw_only=True)
class Folders:
    """For corpora that do not fit a machine, or an afternoon: shards in, shards out."""

    input: Many[str] = ()
    """Read these files, folders or patterns instead of standard input: text, .jsonl or .parquet, text also packed."""
    output: Maybe[Path] = None
    """Folder for the answers, one file per shard; run the command again to go on after a fault."""
    shard_lines: Maybe[int] = None
    """Longer files are cut into shards of so many lines (10,000)."""
    skip_broken: Flag = False
    """Answer lines of shards that cannot be used (not UTF-8, not JSON) by an empty one, and count them."""
    processes: Maybe[int] = None
    """Processes that work side by side (1); with `--engine ray` workers of the cluster (all it has room for)."""
    ray_address: Maybe[str] = None
    """Cluster of Ray to use, for `--engine ray`: `auto` or HOST:PORT; by default RAY_ADDRESS, else this machine."""


def runner(engine: str, folders: Folders, device: str | None) -> "tuple[str, Runner]":
    """What runs the model, and who does the work: `ray` is a cluster of Ray, `ray:NAME` one with that engine."""
    from levt.errors import ConfigError
    from levt.recipes.workers import Local

    who, _, inner = engine.partition(":")
    if who == "ray":
        from levt.recipes.ray_workers import OnRay

        return inner or "auto", OnRay(address=folders.ray_address, workers=folders.processes, device=device)
    if folders.ray_address is not None:
        raise ConfigError("--ray-address is for --engine ray", hint="--engine ray, or leave it out")
    return engine, Local(processes=1 if folders.processes is None else folders.processes, device=device)


def wanted(engine: str, folders: Folders) -> bool:
    """Whether shards are to be worked on; half a wish is an error."""
    from levt.errors import ConfigError

    if folders.input and folders.output is not None:
        return True
    if folders.input or folders.output is not None:
        raise ConfigError("shards need both --input and --output", hint="--input FOLDER --output FOLDER")
    for flag, given in (
        ("--skip-broken", folders.skip_broken),
        ("--shard-lines", folders.shard_lines is not None),
    ):
        if given:
            raise ConfigError(f"{flag} is for shards", hint="--input FOLDER --output FOLDER")
    if engine.partition(":")[0] == "ray" or folders.processes is not None or folders.ray_address is not None:
        raise ConfigError(
            "a cluster, or several processes, work on shards, not on standard input",
            hint="--input FOLDER --output FOLDER",
        )
    return False


def answer_folders(
    answering: "Answering",
    folders: Folders,
    beside: Mapping[str, Path | None],
    *,
    who: "Runner",
    json: bool,
) -> None:
    """Answer all shards, and say what came of it on stderr."""
    import sys
    import time

    from levt.cli._layout import counted
    from levt.cli._progress import bar
    from levt.errors import ConfigError
    from levt.recipes.line_shards import answer_shards
    from levt.recipes.shard_formats import format_of, text
    from levt.recipes.shard_plan import plan

    assert folders.output is not None
    files = {field: [str(path)] for field, path in beside.items() if path is not None}
    lines = LINES if folders.shard_lines is None else folders.shard_lines
    pieces = plan(folders.input, beside=files, lines=lines, json=json)
    if answering.verb == "refine" and "draft" not in files:
        for part in (piece.parts["source"] for piece in pieces):
            if format_of(part.file) is text.FORMAT:
                raise ConfigError(
                    f"{part.file} has no drafts to refine",
                    hint="--draft FILE, or a folder, with one line per line",
                )
    begun = time.perf_counter()
    with bar(answering.verb, "lines") as progress:
        found = answer_shards(
            answering,
            pieces,
            folders.output,
            json=json,
            skip_broken=folders.skip_broken,
            runner=who,
            progress=progress,
        )
    seconds = time.perf_counter() - begun
    new = found.lines - found.before
    print(
        f"{folders.output}: {counted(found.lines, 'line')} in {counted(found.shards, 'shard')}",
        file=sys.stderr,
    )
    if found.before:
        print(f"  done before: {counted(found.before, 'line')}", file=sys.stderr)
    if found.damaged:
        print(f"  made again: {counted(found.damaged, 'damaged shard')}", file=sys.stderr)
    if found.broken:
        print(
            f"  not usable, and answered by an empty line: {counted(found.broken, 'line')}", file=sys.stderr
        )
    if new:
        print(f"  {counted(new, 'line')} in {seconds:,.1f} s, {new / seconds:,.1f} lines/s", file=sys.stderr)
