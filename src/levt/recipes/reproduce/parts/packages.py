"""Whether everything that chains will need is installed: better said now than after hours of training."""

import importlib.util

from levt.errors import MissingExtra
from levt.evaluation.scorers import scorer
from levt.recipes.reproduce.framework.step import Step, chain


def check_packages(*goals: Step) -> None:
    """Raise a MissingExtra where the metrics of some chains or their plots lack a package."""
    ways = {step.config["tokenize"] for step in chain(*goals) if step.config.get("tokenize")}
    for tokenize in sorted(ways) or [None]:
        scorer("bleu", tokenize)
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "eval")
