"""How arguments read in help. Knows no verb."""

from pathlib import Path
from typing import Annotated, TypeVar

import tyro

T = TypeVar("T")

Maybe = Annotated[T | None, tyro.conf.arg(help_behavior_hint="")]
"""What may be left out: its help says what then happens, so that "(default: None)" would say less."""
Flag = Annotated[bool, tyro.conf.arg(help_behavior_hint="")]
"""What is so only where it is asked for; that needs no "(default: False)"."""
Many = Annotated[tuple[T, ...], tyro.conf.arg(help_behavior_hint="")]
"""Any number of values, none where it is left out."""
Two = Annotated[tuple[Path, Path] | None, tyro.conf.arg(metavar="PATH PATH", help_behavior_hint="")]
"""Two files, which may be left out."""
ModelName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL")]
"""A model without a flag."""
AnyModel = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[MODEL]")]
"""The same, which may be left out."""
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
File = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
Text = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TEXT")]

STYLE = (tyro.conf.DisallowNone, tyro.conf.FlagCreatePairsOff)
"""What is None, or False, is so by being left out: no ``--device None``, no ``--no-json``."""
