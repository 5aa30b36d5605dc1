"""A recorded run of fairseq, read and checked before anything is compared with it. Knows no model."""

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy

from levt.errors import InputError, raise_all, reason

HEADS = ("encoder", "delete", "placeholder", "token")
"""What is compared, in the order in which a model computes it."""
PIECES = ("source", "state", "state_with_placeholders")
"""What a case lists."""
HOLDS = "the folder holds checkpoint.pt, dict.txt, expected.json and expected.npz; see `levt parity --help`"


def read_recorded(folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The cases, and what fairseq computed."""
    what = f"the recorded run in {folder}"
    try:
        recorded = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        with (folder / "expected.npz").open("rb") as file, numpy.load(file, allow_pickle=False) as archive:
            numbers = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, TypeError, EOFError, RecursionError, zipfile.BadZipFile) as error:
        which = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        raise InputError(f"{what} cannot be read: {which}{reason(error)}", hint=HOLDS) from error
    raise_all(InputError, what, [*_problems(recorded, numbers)][:10], hint=HOLDS)
    return recorded, numbers


def _problems(recorded: Any, numbers: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the cases, and with their numbers."""
    cases, texts = (
        (recorded.get("cases"), recorded.get("decoding", [])) if isinstance(recorded, dict) else ((), ())
    )
    if not isinstance(cases, list) or not isinstance(texts, list) or not (cases or texts):
        yield "expected.json must have lists 'cases' and 'decoding' (which may be left out), with something in them"
        return
    for place, case in enumerate(cases, 1):
        if not _lists(case, *PIECES) or not isinstance(case.get("id"), str):
            yield f"case {place} must have an 'id' and lists of pieces {', '.join(PIECES)}"
            continue
        for head in HEADS:
            found = numbers.get(f"{case['id']}.{head}")
            if found is None or found.dtype.kind != "f":
                yield f"expected.npz has no numbers {case['id']}.{head}"
    for place, case in enumerate(texts, 1):
        if not _lists(case, "source", "output") or "empty_gap_penalty" not in case:
            yield f"case {place} of decoding must have lists of pieces source, output, and empty_gap_penalty"


def _lists(case: Any, *names: str) -> bool:
    """Whether a case has lists of pieces of these names."""
    return isinstance(case, dict) and all(
        isinstance(case.get(name), list) and all(isinstance(piece, str) for piece in case[name])
        for name in names
    )
