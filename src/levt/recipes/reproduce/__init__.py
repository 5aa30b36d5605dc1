"""Every table and figure of the paper by one command each: a file in this folder is a name of `levt reproduce`.

    TITLE          what is reproduced, in one line
    goal(setting)  the last step of the chain: it writes a ``Report``; everything it needs are steps before it
    BY_TASK        True where it has several tasks, among which ``setting.tasks`` may choose

``table_1.py`` is the name ``table-1``. The folder ``framework`` runs chains and knows no model, ``parts`` has the
steps that the reproductions share: the same teacher and the same distilled corpus are made once, whoever asks.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from levt.errors import ConfigError

if TYPE_CHECKING:
    from levt.recipes.reproduce.framework.setting import Setting
    from levt.recipes.reproduce.framework.step import Step


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """One table or figure."""

    name: str
    """As it is called on the command line."""
    title: str
    """What it is, in one line."""
    goal: "Callable[[Setting], Step]"
    """The last step of its chain."""
    by_task: bool = False
    """Whether it has several tasks."""


def names() -> list[str]:
    """The names of all reproductions: the modules of this folder.

    >>> "table-1" in names()
    True
    """
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(__path__) if not m.ispkg)


def reproduction(name: str) -> Reproduction:
    """The reproduction of that name."""
    if name not in names():
        raise ConfigError(f"there is no reproduction {name!r}", hint=f"one of {', '.join(names())}")
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    return Reproduction(
        name=name, title=module.TITLE, goal=module.goal, by_task=getattr(module, "BY_TASK", False)
    )
