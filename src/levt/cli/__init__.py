"""The command line: one file per verb, each of which parses, calls and prints. Adding a file adds a verb.

A verb's module holds one function of the verb's name, or ``COMMANDS``, a table of functions, where the verb has
kinds (``levt convert fairseq``); ``RAW = True`` says that the function takes the arguments as they are. What verbs
share begins with an underscore. Modules here import torch only inside their functions, so that help is instant.
Data goes to stdout, all else to stderr.
"""

import errno
import importlib
import io
import os
import pkgutil
import sys
from collections.abc import Callable, Sequence
from inspect import getdoc
from typing import Any

from levt import __version__
from levt.errors import LevtError


def verbs() -> list[str]:
    """Names of all verbs: the modules of this folder."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def load_verb(verb: str) -> Callable[..., Any] | dict[str, Callable[..., Any]]:
    """The function of a verb, or the table of its kinds."""
    module = importlib.import_module(f"{__name__}.{verb}")
    found: Callable[..., Any] | dict[str, Callable[..., Any]] = getattr(module, "COMMANDS", None) or getattr(
        module, verb
    )
    return found


def first_line(verb: str) -> str:
    """The first sentence of a verb's documentation."""
    found = load_verb(verb)
    doc = importlib.import_module(f"{__name__}.{verb}").__doc__ if isinstance(found, dict) else found.__doc__
    return (doc or "").strip().splitlines()[0]


def overview() -> str:
    """What ``levt --help`` prints."""
    rows = "\n".join(f"  {verb:<12} {first_line(verb)}" for verb in verbs())
    return (
        f"levt {__version__}: text generation by editing\n\n"
        f"usage: levt VERB [options]\n\n{rows}\n\n"
        "`levt VERB --help` explains one; `levt --version` prints the version."
    )


def dispatch(argv: Sequence[str]) -> None:
    """Run one command line."""
    if not argv or argv[0] in ("-h", "--help"):
        from levt.cli._layout import folded

        with folded():
            print(overview())
        return
    if argv[0] == "help":  # `levt help convert onnx`, as elsewhere
        return dispatch([*argv[1:], "--help"])
    if argv[0] == "--version":
        print(f"levt {__version__}")
        return
    verb, rest = argv[0], list(argv[1:])
    if verb not in verbs():
        raise LevtError(f"unknown verb {verb!r}", hint=_nearest(verb, verbs(), "levt "))
    if verb in FILTERS and rest and not rest[0].startswith("-"):
        words = ["--input", rest[0], "--output", "FOLDER"] if os.path.isdir(rest[0]) else ["<", rest[0]]
        missing = "" if os.path.exists(rest[0]) else f", and {rest[0]} does not exist"
        raise LevtError(
            f"levt {verb} reads its lines from standard input{missing}",
            hint=" ".join(["levt", verb, *rest[1:], *(["<", "FILE"] if missing else words)]),
        )
    found = load_verb(verb)
    if isinstance(found, dict):
        _dispatch_kind(verb, found, rest)
    elif getattr(importlib.import_module(f"{__name__}.{verb}"), "RAW", False):
        found(rest)
    else:
        _run(found, rest, f"levt {verb}")


def _dispatch_kind(verb: str, kinds: dict[str, Callable[..., Any]], rest: Sequence[str]) -> None:
    """Run the kind of a verb that the arguments begin with, or explain them all."""
    kind = rest[0] if rest else ""
    if kind in kinds:
        return _run(kinds[kind], rest[1:], f"levt {verb} {kind}")
    if kind in ("-h", "--help"):
        import tyro

        from levt.cli._flags import STYLE
        from levt.cli._layout import folded

        about = getdoc(importlib.import_module(f"{__name__}.{verb}"))
        with folded():
            tyro.extras.subcommand_cli_from_dict(
                kinds, prog=f"levt {verb}", description=about, args=[kind], config=STYLE
            )
    what = f"unknown kind {kind!r}" if kind else "no kind is given"
    raise LevtError(
        f"levt {verb}: {what}; there are {', '.join(kinds)}",
        hint=_nearest(kind, sorted(kinds), f"levt {verb} "),
    )


def _run(call: Callable[..., Any], args: Sequence[str], prog: str) -> None:
    """Read the arguments of a function, then run it."""
    from levt.cli._flags import STYLE
    from levt.cli._reading import bound, read

    read(bound(call), args, prog=prog, config=STYLE)()


def _nearest(name: str, known: Sequence[str], before: str) -> str:
    """What somebody may have meant who gave a name that there is not.

    >>> _nearest("trian", ["serve", "train"], "levt "), _nearest("", ["mix", "words"], "levt synthesize ")
    ('did you mean `levt train`?', '`levt synthesize --help` lists them')
    """
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean `{before}{near[0]}`?" if near else f"`{before}--help` lists them"


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point: errors that a user can cause end with a message and status 2, never a traceback."""
    _open_streams()
    try:
        dispatch(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except LevtError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone (`levt … | head`): give the interpreter nothing left to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        if error.errno not in OF_THE_DISK and not (error.errno in OF_A_NAME and error.filename):
            raise
        mend = _NAME if error.errno in OF_A_NAME else _MEND
        print(f"error: {error.filename or 'a file'}: {error.strerror}\nhint: {mend}", file=sys.stderr)
        sys.exit(2)


def _open_streams() -> None:
    """Let everything be written, whatever the locale: UTF-8 to files and pipes, to a terminal what it can show."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # somebody has closed it: nothing to read, and nobody who reads
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="replace")
        else:
            sys.stdout.reconfigure(encoding="utf-8")


FILTERS = ("refine", "translate")
"""Verbs to which a file is often given as if it were an argument."""
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EFBIG)
"""Troubles that are not ours: no room, no right to write, a broken disk."""
OF_A_NAME = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG)
"""Names that cannot be used; verbs have better words for those they expect."""
_NAME = "choose another place, in a folder that exists"
_MEND = "make room or choose another place, then run the command again"
