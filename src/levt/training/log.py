"""What a run says: one tidy line for people, JSON lines for programs, TensorBoard where it is installed."""

import importlib.util
import json
import math
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text


class Log:
    """The log of one run; only the first process of several has one that speaks."""

    def __init__(self, folder: Path, *, speaks: bool = True, resumed_at: int = 0) -> None:
        self.path = folder / "log.jsonl"
        self.speaks = speaks
        self.console = Console(stderr=True)
        self._live: Live | None = None
        self._board: Any = None
        if not speaks:
            return
        folder.mkdir(parents=True, exist_ok=True)
        # A run that was killed may have logged steps behind its last checkpoint; they will come again, as will its end.
        if self.path.exists():
            kept = [
                r for r in read_log(self.path) if r.get("step", 0) <= resumed_at and r.get("event") != "end"
            ]
            new = self.path.with_suffix(".new")  # a run killed just now keeps the log it had
            new.write_text("".join(json.dumps(r) + "\n" for r in kept), encoding="utf-8")
            new.replace(self.path)
        if importlib.util.find_spec("tensorboard"):
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(
                str(folder / "tensorboard"), purge_step=resumed_at + 1 if resumed_at else None
            )
        if self.console.is_terminal:
            self._live = Live(console=self.console, refresh_per_second=4)

    def __enter__(self) -> "Log":
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()
        if self._board:
            self._board.close()

    def record(self, event: str, step: int, **values: Any) -> None:
        """Write one record."""
        if not self.speaks:
            return
        clean = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "step": step, **clean}) + "\n")
        if self._board:
            for name, value in values.items():
                if isinstance(value, int | float):
                    self._board.add_scalar(f"{event}/{name}", value, step)

    def progress(self, text: str) -> None:
        """The line that shows how it goes: rewritten in place on a terminal, else one line each time."""
        if not self.speaks:
            return
        if self._live:
            self._live.update(Text(text))
        else:
            print(text, file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """A line that stays."""
        if self.speaks:
            self.console.print(text, highlight=False, markup=False)


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a log; a line that is damaged, as a last one that was cut off, is left out."""
    records = []
    for line in path.read_text("utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


def clock(seconds: float) -> str:
    """A duration for people.

    >>> clock(75.0), clock(4000.0)
    ('1:15', '1:06:40')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
