"""A demonstration that needs nothing: a tiny model learns to repair typing errors, here and now."""

from pathlib import Path
from typing import TYPE_CHECKING

from levt.cli._demo_show import show_result, timed, write_page
from levt.cli._layout import folded

if TYPE_CHECKING:
    from levt.engine.model import Model
    from levt.engine.result import Result

UNSEEN = 12345
"""Seed of the sentences that are shown; the model learnt from others."""
SHOWN = 12
JUDGED = 200
"""Sentences shown, and sentences from which the share repaired is told."""

TEXTS = ("train.draft", "train.target")
"""What the model learns from; they lie beside its corpus."""

NOT_KEPT = "nothing of it is kept; with --out FOLDER it could go on"

INTRODUCTION = (
    "A Levenshtein Transformer learns to repair typing errors, from 20,000 sentences\n"
    "of a small grammar. It starts from random weights and takes about a minute on\n"
    "one core; nothing is downloaded."
)


def demo_typos(out: Path | None, steps: int | None, *, json: bool, html: Path | None) -> None:
    """Train, or find the model in ``out``, and show what it does with unseen sentences."""
    import sys
    from json import dumps
    from tempfile import TemporaryDirectory

    print(INTRODUCTION, file=sys.stderr, flush=True)
    with TemporaryDirectory(prefix="levt-demo-") as temporary:
        model = _learnt(out or Path(temporary), steps, kept=out is not None)
        wrong, right = _unseen(JUDGED)
        results = [model.refine(text, draft=text) for text in wrong[:SHOWN]]
        answers = results + model.refine(wrong[SHOWN:], draft=wrong[SHOWN:])
        if json:
            for text, wanted, result in zip(wrong, right, results, strict=False):
                print(dumps({"draft": text, "wanted": wanted, **result.to_json()}, ensure_ascii=False))
        else:
            _show_all(model, wrong, right, results)
        if html is not None:
            write_page(html, results, "levt: typing errors repaired by editing", INTRODUCTION)
    before = sum(text == wanted for text, wanted in zip(wrong, right, strict=True))
    after = sum(result.text == wanted for result, wanted in zip(answers, right, strict=True))
    iterations = sum(result.iterations for result in answers) / JUDGED
    with folded():
        print(
            f"\n{JUDGED} unseen sentences: {before / JUDGED:.0%} were right as they were, {after / JUDGED:.0%} are now,"
            f" after {iterations:.1f} iterations on average",
            file=sys.stderr,
        )
        print(_next(out), file=sys.stderr)


def _learnt(folder: Path, steps: int | None, *, kept: bool) -> "Model":
    """Train in a folder, or go on, or find that it is done; one that is not ``kept`` is gone after a stop."""
    import dataclasses

    import torch

    from levt.engine.model import load
    from levt.recipes.experiment import finished, run
    from levt.recipes.typos import typo_corpus, typo_repair
    from levt.training.loop import GO_ON

    # Two threads wait for each other more than they help here, and much more where something else runs.
    torch.set_num_threads(1)
    _refuse_strangers(folder)
    corpus = folder / "corpus"
    if not corpus.exists():
        typo_corpus(folder, dev=0)  # validation would need the extra `eval`; the demo has only the core
    recipe = typo_repair()
    training = recipe.training if steps is None else dataclasses.replace(recipe.training, max_steps=steps)
    experiment = dataclasses.replace(
        recipe, corpus=corpus, out=folder / "run", device="cpu", training=training
    )
    if not finished(experiment):
        run(experiment, after_stop=GO_ON if kept else NOT_KEPT)
        if not finished(experiment):  # by Ctrl-C: half a lesson is nothing to show
            raise KeyboardInterrupt
    return load(folder / "run" / "best", device="cpu")


def _refuse_strangers(folder: Path) -> None:
    """Raise a StoreError where a folder has a corpus or a run that comes from no demonstration."""
    from levt.errors import StoreError

    if not all((folder / name).exists() for name in TEXTS):
        for strange in filter(Path.exists, (folder / "corpus", folder / "run")):
            raise StoreError(f"{strange} comes from no demonstration", hint="choose another folder for --out")


def _unseen(count: int) -> tuple[list[str], list[str]]:
    from itertools import islice

    from levt.recipes.typos import examples

    pairs = list(islice(examples(UNSEEN), count))
    return [wrong for wrong, _ in pairs], [right for _, right in pairs]


def _show_all(model: "Model", wrong: list[str], right: list[str], results: list["Result"]) -> None:
    """Each text with its edits, how long it took, and whether it is right."""
    from functools import partial

    from levt.cli._console import Output

    console = Output(highlight=False)
    for text, wanted, result in zip(wrong, right, results, strict=False):
        verdict = "repaired" if text != wanted else "right as it was"
        if result.text != wanted:
            verdict = f"wrong, it was: {wanted}"
        milliseconds = timed(partial(model.refine, text, draft=text))
        show_result(console, result, milliseconds, verdict)


def _next(out: Path | None) -> str:
    folder = "demo" if out is None else str(out)
    text = "The old sialor sells hsi bicycle."
    lines = ["", "What to try next:"]
    if out is None:
        lines.append("  levt demo --typos --out demo  keeps the model, so that you can use it:")
    lines += [
        f'  levt show "{text}" --draft "{text}" --model {folder}/run/best',
        "  levt train                    lists the recipes; `levt prepare` makes a corpus of your own",
    ]
    return "\n".join(lines)
