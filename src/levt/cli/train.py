"""Train a model by a recipe; run it again to go on where it stopped."""

import os
import sys
from collections.abc import Sequence


def train(argv: Sequence[str]) -> None:
    """Train a model by a recipe; run it again to go on where it stopped.

    usage: levt train RECIPE [--corpus FOLDER] [--out FOLDER] [--training.max-steps N] [--model.width D] …

    RECIPE is a name from the list below, or file.py:function. Every field of the recipe is a flag;
    `levt train RECIPE --help` lists them. Under torchrun all processes train together, and start again
    from the last checkpoint when one of them dies:

    torchrun --nproc-per-node 8 --max-restarts 3 -m levt train RECIPE …

    With --training.sharding shard each holds a part of the weights (FSDP2) instead of all (DDP).
    """
    from levt.cli._layout import folded, paragraphs
    from levt.recipes import recipe, recipes, summaries

    if not argv or argv[0] in ("-h", "--help"):
        with folded():
            print(paragraphs(train.__doc__), end="\n\n")
            for name, about in summaries().items():
                print(f"  {name:<24} {about}")
        return
    import tyro

    from levt.cli._reading import read
    from levt.recipes.experiment import Experiment, run
    from levt.recipes.passed_over import check_changes

    default, known = recipe(argv[0]), recipes()
    experiment = read(
        tyro.conf.AvoidSubcommands[Experiment],
        argv[1:],
        prog=f"levt train {argv[0]}",
        default=default,
        description=paragraphs(known[argv[0]].__doc__) if argv[0] in known else None,
    )
    check_changes(experiment, default)
    standing = run(experiment)
    if os.environ.get("RANK", "0") == "0":  # one of several speaks
        where = experiment.out / "best"
        best = (
            "not validated yet" if standing.best is None else f"best {experiment.metric} {standing.best:.2f}"
        )
        found = f"model in {where}" if where.is_dir() else "no model yet"
        print(f"step {standing.step:,}, {best}, {found}", file=sys.stderr)


RAW = True
"""The verb reads its own arguments: what flags there are depends on the recipe."""
