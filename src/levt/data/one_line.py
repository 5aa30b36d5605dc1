"""Texts that stay in their lines: bytes to text, and results to text that no reader takes for two lines."""

import re
from json import dumps
from typing import Any

from levt.errors import InputError

BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Everything that some reader takes for the end of a line."""
ESCAPED = re.compile(f"{BREAKS.pattern}|[\ud800-\udfff]")
"""What JSON writes as an escape: the same, and halves of a character, which have no bytes."""


def decoded(line: bytes) -> str:
    """The text of a line."""
    try:
        return line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"it is not UTF-8 ({error.reason} at byte {error.start})",
            hint="convert the file, as by `iconv -t UTF-8`",
        ) from None


def one_line(text: str) -> str:
    """A text that stays in its line.

    >>> one_line("a\\nb\\u2028c")
    'a b c'
    """
    return BREAKS.sub(" ", text)


def one_line_json(value: Any) -> str:
    """JSON that stays in its line, and can be written in UTF-8 whatever is in it.

    >>> one_line_json({"a": "b\\u2028c\\ud800"})
    '{"a":"b\\\\u2028c\\\\ud800"}'
    """
    text = dumps(value, ensure_ascii=False, separators=(",", ":"))
    return ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
