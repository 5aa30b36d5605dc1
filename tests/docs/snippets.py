"""Fenced blocks of Markdown pages, and what a page says about how they are tested.

Marks are comments above a block, to be seen by whoever edits the page:

    <!-- not run: REASON -->            the block is only read: its verbs and flags must exist
    <!-- in the test: FLAGS (REASON) -->  FLAGS are put behind the only command of the block
    <!-- printed -->                    the block before has printed these lines

and anywhere in a page ``<!-- begins with: nothing -->``: its folder is empty, without the toy model.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*?) -->\n+)?"
    r"^(?P<ticks>`{3,})(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=ticks)\s*$",
    re.M | re.S,
)
SHELL = ("bash", "console", "sh", "shell")
EXTRA = re.compile(r"(?P<flags>-\S.*?) \((?P<reason>.+)\)")


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    language: str
    body: str
    not_run: str | None = None
    """Why it is only read."""
    extra: str | None = None
    """Flags that make it small."""
    printed: bool = False
    """Whether it is what the block before has printed."""

    @property
    def is_shell(self) -> bool:
        return self.language in SHELL

    @property
    def script(self) -> str:
        """What a shell runs: of a console block the lines after a prompt."""
        if self.language != "console":
            return self.body.strip()
        return "\n".join(line.removeprefix("$ ") for line in self.body.splitlines() if line.startswith("$ "))

    def commands(self) -> list[str]:
        """The logical lines of the script, without comments."""
        joined = self.script.replace("\\\n", " ")
        return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    def tested_script(self) -> str:
        if self.extra is None:
            return self.script
        (only,) = self.commands()
        return f"{only} {self.extra}"


def blocks(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page, in order; a mark that cannot be read is an error."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        mark, not_run, extra = match["mark"] or "", None, None
        if mark.startswith("not run: "):
            not_run = mark.removeprefix("not run: ")
        elif mark.startswith("in the test: "):
            found = EXTRA.fullmatch(mark.removeprefix("in the test: "))
            assert found, f"{page}: the mark {mark!r} must be `in the test: FLAGS (REASON)`"
            extra = found["flags"]
        line = text.count("\n", 0, match.start("ticks")) + 1
        yield Block(page, line, match["language"], match["body"], not_run, extra, printed=mark == "printed")


def levt_calls(script: str) -> Iterator[list[str]]:
    """The words of every call of levt in a script, up to the next pipe, redirection or end of the command."""
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
        lexer.whitespace_split, lexer.commenters = True, "#"
        call: list[str] | None = None
        try:
            found = list(lexer)
        except ValueError:  # an apostrophe in prose
            continue
        for word in [*found, ";"]:
            if set(word) <= set("|&;<>()"):
                if call is not None:
                    yield call
                call = None
            elif call is not None:
                call.append(word)
            elif word == "levt":
                call = []
