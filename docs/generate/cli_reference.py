"""The reference of the command line: what ``--help`` says, verb by verb. Knows no model."""

import io
import os
import re
from contextlib import redirect_stdout

from levt.cli import dispatch, first_line, load_verb, verbs
from levt.cli._layout import fold

WIDTH = "88"
"""Columns that a page of the site has room for on a small laptop."""


def help_of(*argv: str) -> str:
    """What ``levt … --help`` prints, without colours."""
    out = io.StringIO()
    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR", "TERM")}
    os.environ.update(COLUMNS=WIDTH, NO_COLOR="1", TERM="dumb")
    try:
        with redirect_stdout(out):
            dispatch([*argv, "--help"])
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"levt {' '.join(argv)} --help: {out.getvalue()}") from None
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    said = re.sub(r"\x1b\[[0-9;]*m", "", plain(out.getvalue())).strip()
    return fold(said, int(WIDTH))


def plain(text: str) -> str:
    """Help without the lines that are drawn below headings.

    >>> print(plain(" options\\n -------\\n  -h   help"))
    options:
      -h   help
    """
    lines = text.splitlines()
    drawn = [set(line.strip()) == {"-"} for line in lines] + [False]
    return "\n".join(
        f"{line.strip()}:" if drawn[i + 1] else line.rstrip() for i, line in enumerate(lines) if not drawn[i]
    )


def page() -> str:
    """The whole page."""
    parts = [
        "# Command line",
        "Made from the help texts. Text goes through stdin and stdout, everything else to stderr. Exit status: 0 when "
        "all went well, 1 where a check found something wrong (`inspect`, `parity`), 2 for what you can put right, "
        "130 after Ctrl-C, 141 where the reader has gone; a training that is stopped writes a checkpoint first and "
        "ends with 0.",
        "| verb | |\n|---|---|\n"
        + "\n".join(f"| [`levt {v}`](#levt-{v}) | {first_line(v)} |" for v in verbs()),
    ]
    for verb in verbs():
        found = load_verb(verb)
        parts += [f"## levt {verb}", f"```text\n{help_of(verb)}\n```"]
        for kind in found if isinstance(found, dict) else ():
            parts += [f"### levt {verb} {kind}", f"```text\n{help_of(verb, kind)}\n```"]
        if verb == "train":
            parts += [
                "The fields of a recipe, here of `typo-repair`; all recipes of its kind have them:",
                f"```text\n{help_of('train', 'typo-repair')}\n```",
            ]
    return "\n\n".join(parts) + "\n"
