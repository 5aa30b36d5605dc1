"""How the systems of a page were made, in words: what all have in common, and where they differ. Knows no system.

A page that compares must say who had more of what: steps, tokens, dropout, a choice on the dev set.
"""

from levt.recipes.reproduce.parts.models import Made
from levt.recipes.reproduce.parts.sizes import size


def conditions(made: Made, *, left_to_right: bool = False, students: bool = True) -> str:
    """Sizes, lengths of training and choices on the dev set; also of models from left to right, and of a teacher's."""
    chosen, task = size(made.setting.scale), made.task
    long, short = (task.training(chosen, kind) for kind in ("levt", "autoregressive"))
    tokens = long["tokens"] * long.get("accumulate", 1)
    steps = f"{long['max_steps']:,} steps"
    if left_to_right and short["max_steps"] != long["max_steps"]:
        steps += f", those that write from left to right {short['max_steps']:,},"
    every = f"every {long['validate_every']:,} steps"
    if left_to_right and short["validate_every"] != long["validate_every"]:
        every += f", from left to right every {short['validate_every']:,}"
    dropout = f"dropout {task.dropout:g}"
    if students and task.student_dropout is not None:
        dropout += f", {task.student_dropout:g} where a teacher's texts are learnt"
    metric = f"{task.selection.upper()}{' over characters' if task.selection_tokenize == 'char' else ''}"
    model = chosen.model
    return (
        f"Models are {model['width']} wide with {model['encoder_layers']} + {model['decoder_layers']} layers, "
        f"read and write the same subwords ({task.vocabulary:,}) and learnt for {steps} of {tokens:,} target tokens; "
        f"{dropout}. Of the checkpoints ({every}) the best by {metric} on "
        f"{chosen.dev_limit:,} sentences of the dev set was taken (decoded greedily, LevT with γ = 0), then γ of "
        f"each LevT by the same metric from {len(chosen.penalties)} values between {min(chosen.penalties):g} and "
        f"{max(chosen.penalties):g}, the smallest that may be as good as the best. LevT is decoded by Algorithm 2 as "
        "it stands, with at most 10 iterations."
        + (" The length penalty of beam search is 1, and was not chosen." if left_to_right else "")
        + (" Students of all seeds learnt from one teacher, that of seed 1 (beam 4)." if students else "")
    )
