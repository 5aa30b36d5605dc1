"""``levt inspect``: what a model folder holds, and whether it is whole."""

import sys
from collections.abc import Mapping
from json import dumps

from levt.cli._flags import AnyModel, Flag
from levt.cli._model import DEFAULT


def inspect(model: AnyModel = DEFAULT, *, json: Flag = False) -> None:
    """Show the settings, sizes and checksums of a model and verify it; exit 1 where it is damaged.

    Example: levt inspect runs/multi30k-levt/best

    Args:
        model: A model folder, a bundled model, or an id of the hub.
        json: Print all of it as JSON.
    """
    from levt.policy.hub import resolve
    from levt.policy.inspection import inspect_folder

    found = inspect_folder(resolve(model))
    if json:
        print(dumps(found.to_json(), ensure_ascii=False, indent=2))
    else:
        settings = {name: value for name, value in found.model.items() if value is not None}
        print(f"{found.folder}: {settings.pop('kind')} model, written by levt {found.levt}")
        print_rows("settings", {name: str(value) for name, value in settings.items()})
        print_rows("vocabulary", {name: f"{size:,} pieces" for name, size in found.vocabulary.items()})
        print_rows(
            f"parameters ({found.total:,}, stored as {found.dtype})",
            {name: f"{count:>12,}" for name, count in found.parameters.items()},
        )
        print_rows("files", {n: f"{f.bytes:>12,} bytes  sha256 {f.sha256}" for n, f in found.files.items()})
        print_rows("training", dotted(found.training or {}))
        print("\nverified: all checksums and tensors are right" if not found.problems else "")
    for problem in found.problems:
        print(f"problem: {problem}", file=sys.stderr)
    if found.problems:
        sys.stdout.flush()
        sys.exit(1)


def dotted(record: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """What a record says, a row each, without what is not set and the settings of the model, which stand above.

    >>> dotted({"step": 400, "bleu": 98.7699, "settings": {"init": None, "training": {"tokens": 1024}}})
    {'step': '400', 'bleu': '98.77', 'settings.training.tokens': '1024'}
    """
    rows: dict[str, str] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            if f"{prefix}{name}" != "settings.model":
                rows |= dotted(value, f"{prefix}{name}.")
        elif value is not None:
            rows[f"{prefix}{name}"] = f"{value:.4g}" if isinstance(value, float) else str(value)
    return rows


def print_rows(title: str, rows: dict[str, str]) -> None:
    """A heading and its rows, if there are any."""
    if rows:
        print(f"\n{title}")
        width = max(len(name) for name in rows)
        for name, value in rows.items():
            print(f"  {name:<{width}}  {value}")
