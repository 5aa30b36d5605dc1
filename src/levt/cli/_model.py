"""The model of a command line: loaded once, with the settings that were given. Knows no stream."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from levt.engine.model import Model

DEFAULT = "levt-en-de"
"""The model that comes with the package."""


def open_model(
    name: str,
    *,
    engine: str,
    device: str | None,
    dtype: str | None,
    batch_size: int = 64,
    flag: str = "--model",
) -> "Model":
    """Load a model; where the default one is missing, say how to name another: after ``flag``."""
    from levt.engine.batching import Budget
    from levt.engine.model import load
    from levt.errors import ConfigError, ModelError
    from levt.refine.ranges import Range

    if problem := Range(1, 1 << 20).problem(batch_size, whole=True):
        raise ConfigError(f"batch_size {problem}", hint="--batch-size 64 is the default")
    try:
        budget = Budget(rows=batch_size, window=4 * batch_size)
        return load(name, device=device, dtype=dtype, engine=engine, budget=budget)
    except ModelError as error:
        if name == DEFAULT and error.message.startswith("there is no model"):
            raise ModelError(
                f"the default model {DEFAULT!r} is not bundled with this installation",
                hint=f"name one: {flag} FOLDER, or {flag} USER/NAME of the hub",
            ) from None
        raise


def given(**settings: Any) -> dict[str, Any]:
    """The settings that somebody gave: None leaves it to the model."""
    return {name: value for name, value in settings.items() if value is not None}
