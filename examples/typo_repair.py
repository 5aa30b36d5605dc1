"""Typing errors, repaired by a model that this script trains from nothing. About a minute on one core.

    python examples/typo_repair.py            then open typo-repair/edits.html

The source is the misspelt sentence, and so is the draft: the model reads it and edits it.
"""

# %% Settings
import argparse
import dataclasses
from itertools import islice
from pathlib import Path

import torch

import levt
from levt.edits.render_html import page, section
from levt.recipes.experiment import finished, run
from levt.recipes.typos import examples, typo_corpus, typo_repair

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
parser.add_argument("--out", type=Path, default=Path("typo-repair"))
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--sentences", type=int, default=20_000)
parser.add_argument("--unseen", type=int, default=100)
args, _ = parser.parse_known_args()
torch.set_num_threads(1)  # two threads wait for each other more than they help at this size

# %% Data: sentences of a small grammar, with slips of the finger
for wrong, right in islice(examples(seed=7), 5):
    print(f"{wrong:<50} {right}")
if not (args.out / "corpus").exists():
    typo_corpus(args.out, train=args.sentences)

# %% Training; run it again to go on, or to use what is there
recipe = typo_repair()
experiment = dataclasses.replace(
    recipe,
    corpus=args.out / "corpus",
    out=args.out / "run",
    device="cpu",
    dev_limit=args.unseen,
    training=dataclasses.replace(recipe.training, max_steps=args.steps),
)
if not finished(experiment):
    run(experiment)
model = levt.load(args.out / "run" / "best", device="cpu")

# %% How good is it, on sentences that it has not seen?
pairs = list(islice(examples(seed=99), args.unseen))
wrong, right = [list(column) for column in zip(*pairs, strict=True)]
results = model.refine(wrong, draft=wrong)
before = sum(a == b for a, b in pairs)
after = sum(result.text == wanted for result, wanted in zip(results, right, strict=True))
rounds = sum(result.iterations for result in results) / len(results)
print(f"{before} of {len(pairs)} were right, {after} are now, after {rounds:.1f} iterations on average")

# %% The leave-alone dial: how sure must the model be before it edits?
for dial in (0.0, 0.5, 0.9, 1.0):
    careful = model.refine(wrong, draft=wrong, min_edit=dial)
    touched = sum(result.text != text for result, text in zip(careful, wrong, strict=True))
    fixed = sum(result.text == wanted for result, wanted in zip(careful, right, strict=True))
    print(f"min_edit {dial:.1f}: {touched:>3} sentences touched, {fixed:>3} right")

# %% Every edit, as a page
parts = [section(result.trace, title=f"Sentence {i}") for i, result in enumerate(results[:12], 1)]
(args.out / "edits.html").write_text(page(parts, title="Typing errors repaired by editing"), encoding="utf-8")
print(f"every edit with its probability: {args.out / 'edits.html'}")
