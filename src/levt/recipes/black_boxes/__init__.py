"""Black boxes: systems whose drafts are to be repaired, behind one small interface.

A black box takes lines and gives exactly one line for each, in order; what is inside nobody asks. One is named by a
string, its kind before the first colon:

    levt:FOLDER          a model folder of any kind that writes from nothing
    phrase:FOLDER        a phrase-based system (`levt blackbox train-phrase`)
    command:COMMAND      a shell command that reads lines on stdin and writes as many on stdout
    http://… https://…   a service that takes {"lines": […]} by POST and answers {"lines": […]}
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from levt.errors import ConfigError, InputError
from levt.refine.ranges import Range

KINDS = "levt:FOLDER, phrase:FOLDER, command:COMMAND, http://… or https://…"


@runtime_checkable
class BlackBox(Protocol):
    """Anything that translates lines."""

    def translate(self, lines: Sequence[str]) -> list[str]:
        """Exactly one translation for each line, in order."""


class NoAnswer(InputError):
    """A black box that failed, or did not answer every line."""


def open_black_box(
    spec: str, *, timeout: float | None = None, device: str | None = None, beam: int | None = None
) -> BlackBox:
    """The black box that a string names; ``timeout`` is in seconds for each call of a command or service (600).

    >>> open_black_box("command:tr a-z A-Z").translate(["ein Hund", "", "zwei"])
    ['EIN HUND', '', 'ZWEI']
    """
    kind, colon, rest = spec.partition(":")
    if not colon or not rest.strip("/ "):
        raise ConfigError(
            f"a black box must be named as one of {KINDS}, got {spec!r}",
            hint="for example phrase:FOLDER, of `levt blackbox train-phrase`",
        )
    if timeout is not None and kind in ("levt", "phrase"):
        raise ConfigError(
            f"a black box of kind {kind} has no timeout, got {timeout:g}",
            hint="leave it out; commands and services have one",
        )
    timeout = 600.0 if timeout is None else timeout
    if problem := Range(0, 86_400, above=True).problem(timeout, whole=False):
        raise ConfigError(f"timeout {problem}", hint="600 seconds are the default")
    if beam is not None and kind in ("phrase", "command", "http", "https"):
        raise ConfigError(
            f"a black box of kind {kind} has no beam, got {beam}",
            hint="leave it out; levt:FOLDER may have one",
        )
    if kind == "levt":
        from levt.recipes.black_boxes.model_folder import ModelFolder

        return ModelFolder(rest, device=device, beam=beam)
    if kind == "phrase":
        from levt.recipes.black_boxes.phrase.system import PhraseSystem

        return PhraseSystem.load(Path(rest))
    if kind == "command":
        from levt.recipes.black_boxes.command import Command

        return Command(rest, timeout=timeout)
    if kind in ("http", "https"):
        from levt.recipes.black_boxes.http_service import HttpService

        return HttpService(spec, timeout=timeout)
    raise ConfigError(f"unknown kind of black box {kind!r}", hint=f"one of {KINDS}")


def answered(who: str, lines: Sequence[str], answers: Sequence[str]) -> list[str]:
    """The answers, when there is exactly one for each line."""
    if len(answers) != len(lines):
        raise NoAnswer(
            f"{who} answered {len(answers)} lines for {len(lines)}",
            hint="it must give one line for each line",
        )
    return list(answers)
