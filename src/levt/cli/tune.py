"""``levt tune``: choose γ, or with drafts the reluctance to edit, on a dev set."""

from pathlib import Path
from typing import TYPE_CHECKING

from levt.cli._flags import Flag, Maybe, ModelName
from levt.evaluation.scorers import MetricName, Tokenize

if TYPE_CHECKING:
    from levt.engine.model import Model

PENALTIES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
METRIC: MetricName = "bleu"


def tune(
    model: ModelName,
    dev: tuple[Path, Path],
    draft: Maybe[Path] = None,
    penalties: tuple[float, ...] = PENALTIES,
    metric: MetricName = METRIC,
    tokenize: Maybe[Tokenize] = None,
    batch_size: int = 64,
    device: Maybe[str] = None,
    dtype: Maybe[str] = None,
    json: Flag = False,
) -> None:
    """Choose γ, the penalty for empty gaps, or with drafts the reluctance to edit them, on a dev set; print it.

    Example: levt tune runs/multi30k-levt/best --dev val.en val.de

    γ is subtracted from the score of leaving a gap as it is, so a larger one makes longer texts. The paper takes it
    from 0 to 3; here the smallest is chosen that the best one does not beat by more than chance (paired
    randomization, 0.05 shared among all). Use it with --empty-gap-penalty. With --draft, min_edit is chosen
    instead: of the values with which neither BLEU nor TER is worse than the drafts and one is better by more than
    chance, the one with the lowest TER; 1, leave alone, where there is none. Use it with --min-edit.

    Args:
        model: Name of a bundled model, a model folder, or an id of the hub (user/name).
        dev: Two files of texts, sources and references, line by line.
        draft: A file of drafts, line by line: choose the reluctance to edit them.
        penalties: Every γ to try, between 0 and 3.
        metric: What decides.
        tokenize: How the metric finds words, for a language without spaces; by default its own way.
        batch_size: Most lines that go through the model together; changes speed and memory, never a result.
        device: cpu, cuda or cuda:N; by default a GPU where there is one.
        dtype: float32, bfloat16 or float16; by default bfloat16 on a GPU, float32 elsewhere.
        json: Print all scores as JSON, with the signature of the metric.
    """
    import sys
    from dataclasses import asdict
    from json import dumps

    from levt.cli._model import open_model
    from levt.cli.evaluate import read_all
    from levt.errors import ConfigError
    from levt.evaluation.metrics import metric as metric_of
    from levt.evaluation.scorers import refuse_unheeded
    from levt.recipes.reproduce.parts.tuning import tune as run

    changed = {
        "penalties": penalties != PENALTIES,
        "metric": metric != METRIC,
        "tokenize": tokenize is not None,
    }
    if draft is not None and any(changed.values()):
        raise ConfigError(
            f"--{next(name for name, given in changed.items() if given)} is for γ, which --draft does not choose",
            hint="BLEU and TER decide about drafts, by words between spaces",
        )
    refuse_unheeded(tokenize, (metric,))
    by = metric_of(metric, tokenize=tokenize)
    files = read_all(path for path in (*dev, draft) if path is not None)
    sources, references = (files[path] for path in dev)
    opened = open_model(model, engine="auto", device=device, dtype=dtype, batch_size=batch_size)
    if draft is not None:
        _reluctance(opened, sources, files[draft], references, json=json)
        return
    found = run(
        opened,
        sources,
        references,
        by,
        grid=penalties,
        progress=lambda text: print(text, file=sys.stderr, flush=True),
    )
    print(dumps(asdict(found)) if json else f"{found.penalty:g}")


def _reluctance(
    model: "Model", sources: list[str], drafts: list[str], references: list[str], *, json: bool
) -> None:
    """Choose min_edit and print it."""
    import sys
    from dataclasses import asdict
    from json import dumps

    from levt.recipes.post_editing_dial import calibrate_model
    from levt.recipes.post_editing_triples import Triples

    triples = Triples(sources, drafts, references)
    found = calibrate_model(model, triples, progress=lambda text: print(text, file=sys.stderr, flush=True))
    for one in found.tried:
        verdict = "helps" if one.allowed else "does not help"
        print(
            f"{one.min_edit:g}: BLEU {one.bleu.value:.2f}, TER {one.ter.value:.2f}, {verdict}",
            file=sys.stderr,
        )
    print(f"drafts: BLEU {found.bleu.value:.2f}, TER {found.ter.value:.2f}", file=sys.stderr)
    print(dumps(asdict(found)) if json else f"{found.min_edit:g}")
