"""Post-editing around another system: its drafts, repaired by a LevT that has learnt its mistakes.

    python examples/post_edit_another_system.py

The other system is `word_for_word.py`, behind a pipe: nothing of it is known but what it writes. Its drafts for one
half of a toy corpus are the training data; the result is compared with doing nothing. Two minutes on one core.
"""

# %% Settings
import argparse
import dataclasses
import shlex
import sys
from pathlib import Path

import torch
from toy_pair import student, write

import levt
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.evaluation.metrics import metric
from levt.evaluation.report import report
from levt.evaluation.table import markdown
from levt.imitation.roll_in import RollIn
from levt.recipes.experiment import finished, run
from levt.recipes.synthesis import Synthesis, write_drafts

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
parser.add_argument("--out", type=Path, default=Path("post-editing"))
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--sentences", type=int, default=3_000)
parser.add_argument("--unseen", type=int, default=100)
args, _ = parser.parse_known_args()
torch.set_num_threads(1)

# %% Drafts: ask the other system
text = args.out / "text"
write(text, train=args.sentences, seed=2)
system = Path(__file__).with_name("word_for_word.py")
box = f"command:{shlex.join([sys.executable, str(system)])}"
for split in ("train", "dev", "test"):
    write_drafts(text / f"{split}.en", text / f"{split}.de", args.out / split, Synthesis(black_box=box))
names = ("source", "draft", "target")
triples = {split: [args.out / split / f"{name}.txt" for name in names] for split in ("train", "dev", "test")}
for path in triples["test"]:
    print(f"{path.stem:<8}{path.read_text(encoding='utf-8').splitlines()[0]}")

# %% A corpus of triples, and a model that begins from the drafts
if not (args.out / "corpus").exists():
    splits = {split: corpora(three, draft=True) for split, three in triples.items()}
    prepare(args.out / "corpus", splits, Preparation(vocabulary=500))
recipe = student()
experiment = dataclasses.replace(
    recipe,
    corpus=args.out / "corpus",
    out=args.out / "run",
    device="cpu",
    dev_limit=args.unseen,
    roll_in=RollIn(alpha=0.5, beta=0.5),  # half of the states are drafts, half the model's own
    training=dataclasses.replace(recipe.training, max_steps=args.steps, validate_every=args.steps),
    name="toy-post-editor",
)
if not finished(experiment):
    run(experiment)
model = levt.load(args.out / "run" / "best", device="cpu")

# %% Is it better than doing nothing?
sources, drafts, references = (
    path.read_text(encoding="utf-8").splitlines()[: args.unseen] for path in triples["test"]
)
edited = [result.text for result in model.refine(sources, draft=drafts)]
careful = [result.text for result in model.refine(sources, draft=drafts, min_edit=0.8)]
rows = report(
    {"LevT": edited, "LevT, careful": careful},
    [references],
    [metric("bleu"), metric("ter")],
    drafts=drafts,
)
print(markdown(rows, flip=True))

# %% One sentence, edit by edit
result = model.refine(sources[0], draft=drafts[0])
for number, state in enumerate(result.trace.states()):
    print(number, "".join(token.piece for token in state).replace("▁", " ").strip())
