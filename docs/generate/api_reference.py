"""The reference of the Python API: every name of ``levt.__all__``, from its docstrings."""

import levt
from levt import _HOMES

ORDER = ("load", "Model", "Result", "Trace", "Options", "Wish", "SearchOptions", "Candidates", "Budget")
"""The names one meets first, first; the others follow."""

MORE = {
    "Errors": ["levt.errors"],
    "Edits": ["levt.edits.script", "levt.edits.iteration", "levt.edits.state", "levt.edits.oracle"],
    "Recipes": ["levt.recipes.experiment.Experiment", "levt.training.config.TrainingConfig",
                "levt.imitation.roll_in.RollIn", "levt.imitation.objective.ObjectiveConfig",
                "levt.policy.config.LevTConfig"],
}  # fmt: skip
"""What guides use beyond the public names: read, but not promised."""


def page() -> str:
    """The whole page; mkdocstrings reads the modules."""
    late = [name for name in levt.__all__ if name in _HOMES]
    names = [*(name for name in ORDER if name in late), *(name for name in late if name not in ORDER)]
    parts = [
        "# Python",
        f"`levt` {levt.__version__}. The names under *Promised* are the whole public surface: `levt.NAME`. "
        "`import levt` is quick; torch is imported when a name is first used.",
        "## Promised",
        *(f"::: {_HOMES[name]}.{name}" for name in names),
        "::: levt.errors.LevtError",
        "Every other error that you can cause is a kind of it: see *Errors*.",
        "## Not promised",
        "Used by the guides and examples; may change with any minor version.",
    ]
    for heading, modules in MORE.items():
        parts += [f"## {heading}", *(f"::: {module}" for module in modules)]
    return "\n\n".join(parts) + "\n"
