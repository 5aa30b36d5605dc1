"""JSON lines with the key ``source``, maybe ``draft`` and ``terms``; the result becomes the key ``target``.

What is null is not there. So what is written is what ``levt prepare`` reads; other keys stay as they are.
"""

import json as json_module
from collections.abc import Iterable
from typing import Any, BinaryIO

from levt.data.one_line import one_line_json
from levt.data.terms import terms_of
from levt.errors import InputError
from levt.recipes.shard_formats import Broken, Record
from levt.recipes.shard_formats.text import Text

HINT = "correct it, or --skip-broken to answer it by an empty one"


class Jsonl(Text):
    """One object a line."""

    def record(self, line: bytes) -> Record:
        """The object, if it is one with a source."""
        try:
            found = json_module.loads(line)
        except (ValueError, RecursionError) as error:
            return Broken(InputError(f"it is not JSON ({error})", hint=HINT))
        return checked(found)

    def write(self, file: BinaryIO, answered: Iterable[tuple[Record, Any]], *, json: bool) -> int:
        """The object with its target and, if JSON is asked for, with every edit as ``result``."""
        count = 0
        for record, result in answered:
            count += 1
            more = {"result": result.to_json()} if json else {}
            file.write(f"{one_line_json({**record, 'target': result.text, **more})}\n".encode())
        return count

    def ending(self, *, json: bool) -> str:
        """The name of the input."""
        return ""


FORMAT = Jsonl()


def checked(found: Any) -> Record:
    """A record with a source, or a broken one."""
    if not isinstance(found, dict) or not isinstance(found.get("source"), str):
        return Broken(InputError("it has no text under the key 'source'", hint=HINT))
    if not isinstance(found.get("draft"), str | None):
        return Broken(InputError(f"its draft must be a text, got {found['draft']!r}", hint=HINT))
    try:
        terms = terms_of("" if found.get("terms") is None else found["terms"])
    except InputError as error:
        return Broken(error)
    if any(
        "\ud800" <= c <= "\udfff"
        for text in (found["source"], found.get("draft") or "", *terms)
        for c in text
    ):
        return Broken(InputError("it has a lone surrogate", hint=HINT))
    return found
