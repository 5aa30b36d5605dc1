"""Whether everything that chains will need is installed: better said now than after hours of training."""

import importlib.util

from levt.errors import MissingExtra
from levt.evaluation.scorers import scorer
from levt.recipes.reproduce.framework.step import Step, chain


def check_packages(*goals: Step) -> None:
    """Raise a MissingExtra where the metrics of some chains or their plots lack a package."""
    steps = chain(*goals)
    ways = {step.config["tokenize"] for step in steps if step.config.get("tokenize")}
    for tokenize in sorted(ways) or [None]:
        scorer("bleu", tokenize)
    for name in sorted({name for step in steps for name in step.config.get("metrics", ())}):
        scorer(name)
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "eval")
