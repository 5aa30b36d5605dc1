"""How arguments are read: by tyro, whose refusals end with a hint, and no value is lost. Knows no verb."""

import difflib
import functools
import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from typing import Any

import tyro

from levt.cli._layout import folded
from levt.errors import ConfigError


def read(call: Any, args: Sequence[str], *, prog: str, **how: Any) -> Any:
    """What tyro makes of the arguments of a call; where it refuses them, what it says ends with a hint."""
    parse = functools.partial(tyro.cli, call, prog=prog, **how)
    named = [one.partition("=")[0].replace("_", "-") for one in args if one.startswith("--")]
    for flag in (flag for flag, times in Counter(named).items() if times > 1):
        # [STR [STR ...]] or PATH PATH: of the values of both, tyro would heed the last ones only.
        if re.search(rf"{re.escape(flag)} (\[|[A-Z]+ [A-Z])", _help(parse)):
            raise ConfigError(f"{flag} is given twice", hint=f"once, with all its values: {flag} ONE ANOTHER")
    try:
        with folded():  # what is printed here is help
            return parse(args=list(args))
    except SystemExit as stop:
        if stop.code == 2:
            print(
                f"hint: {_meant(named, _help(parse))}`{prog} --help` explains every option", file=sys.stderr
            )
        raise


def _meant(named: Sequence[str], help: str) -> str:
    """What may have been meant by the first option that there is not; empty where nothing is near.

    >>> _meant(["--out", "--modle"], "--model STR  --out PATH"), _meant(["--width"], "--model.width INT")
    ('did you mean --model? ', 'did you mean --model.width? ')
    """
    known = [flag[2:] for flag in dict.fromkeys(re.findall(r"--[a-z][\w.-]*", help))]
    for name in (flag[2:] for flag in named if flag[2:] not in known):
        near = [flag for flag in known if flag.endswith(f".{name}")]
        near = near or difflib.get_close_matches(name, known, n=1)
        return f"did you mean --{near[0]}? " if near else ""
    return ""


def bound(call: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    """A function of the same arguments that only keeps them: what is read first, and run after that.

    >>> bound(max)(1, 2)()
    2
    """

    @functools.wraps(call)
    def keep(*args: Any, **kwargs: Any) -> Callable[[], Any]:
        return functools.partial(call, *args, **kwargs)

    return keep


def _help(parse: Callable[..., Any]) -> str:
    """What ``--help`` would print."""
    said = io.StringIO()
    with redirect_stdout(said), suppress(SystemExit):
        parse(args=["--help"])
    return said.getvalue()
