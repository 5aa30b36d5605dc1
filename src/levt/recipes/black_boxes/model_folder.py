"""A black box that is one of our own models, of any kind that writes from nothing. Knows no file of texts."""

from collections.abc import Sequence
from typing import Any

from levt.engine.batching import Budget
from levt.engine.model import load
from levt.errors import ConfigError


class ModelFolder:
    """A model folder, a bundled model or one of the hub, with its own settings but for the beam."""

    def __init__(self, name: str, *, device: str | None = None, beam: int | None = None) -> None:
        # In single precision, so that what a black box writes hardly depends on where it runs.
        self.model = load(name, device=device, dtype="float32", budget=Budget(rows=256, window=4096))
        if self.model.kind == "post-editing":
            raise ConfigError(
                f"{name} is a post-editing model: it repairs drafts and cannot write them",
                hint="a black box is a model of another kind",
            )
        if beam is not None and self.model.kind not in ("autoregressive", "recurrent"):
            raise ConfigError(f"a model of kind {self.model.kind} has no beam", hint="leave it out")
        self.settings: dict[str, Any] = {} if beam is None else {"beam": beam}

    def translate(self, lines: Sequence[str]) -> list[str]:
        """The texts of the results."""
        return [result.text for result in self.model.translate(list(lines), **self.settings)]
