"""Algorithms 1 and 2 of the paper, step by step, with letters as tokens and a picture of every state.

    python examples/algorithms_step_by_step.py      then look at steps/algorithm1.png and steps/algorithm2.png

The toy: from a verb to its third person, "bury" to "buries". A minute on one core.
"""

# %% Settings
import argparse
import random
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from toy_pair import SIZE

import levt
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.edits.script import EditScript, between
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.policy.config import LevTConfig
from levt.policy.levt import LevT
from levt.recipes.experiment import Experiment, finished, run
from levt.text.specials import BOS, EOS, PLH
from levt.training.config import TrainingConfig

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
parser.add_argument("--out", type=Path, default=Path("steps"))
parser.add_argument("--steps", type=int, default=300)
parser.add_argument("--words", type=int, default=6_000)
parser.add_argument("--unseen", type=int, default=200)
args, _ = parser.parse_known_args()
torch.set_num_threads(1)


# %% The toy: invented verbs, drafts that always put an s, and the spelling rules of English
def verb(rng: random.Random) -> str:
    """A verb that nobody has heard of."""
    syllables = "".join(rng.choice("bcdfglmnprst") + rng.choice("aeiou") for _ in range(rng.randint(1, 2)))
    return syllables + rng.choice(["ck", "sh", "ch", "x", "ss", "ll", "n", "rt", "ly", "ry", "ay"])


def third_person(word: str) -> str:
    """With an s, an es, or ies for y.

    >>> third_person("carry"), third_person("wash"), third_person("play")
    ('carries', 'washes', 'plays')
    """
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("sh", "ch", "x", "ss")) else "s")


rng = random.Random(1)
text = args.out / "text"
text.mkdir(parents=True, exist_ok=True)
for split, count in (("train", args.words), ("dev", 100)):
    words = [verb(rng) for _ in range(count)]
    (text / f"{split}.from").write_text("\n".join(words) + "\n", encoding="utf-8")
    (text / f"{split}.draft").write_text("".join(f"{word}s\n" for word in words), encoding="utf-8")
    (text / f"{split}.to").write_text("\n".join(map(third_person, words)) + "\n", encoding="utf-8")

# %% Letters as tokens: a vocabulary with no room for anything longer
LETTERS = 5 + 256 + 1 + 21  # symbols, bytes, the space, the letters that occur
if not (args.out / "corpus").exists():
    threes = {
        split: [text / f"{split}.{name}" for name in ("from", "draft", "to")] for split in ("train", "dev")
    }
    splits = {split: corpora(three, draft=True) for split, three in threes.items()}
    prepare(args.out / "corpus", splits, Preparation(vocabulary=LETTERS))

# %% Training, which is Algorithm 1 many times over
experiment = Experiment(
    corpus=args.out / "corpus",
    out=args.out / "run",
    model=LevTConfig(**{**SIZE, "max_count": 20}),
    training=TrainingConfig(
        tokens=1_024, max_steps=args.steps, warmup=30, learning_rate=3e-3, schedule="cosine", ema=0.98,
        validate_every=args.steps, save_every=args.steps, log_every=50,
    ),
    objective=ObjectiveConfig(label_smoothing=0.0),
    roll_in=RollIn(alpha=0.3, beta=0.3),  # shares of states that come from drafts
    metric="chrf",  # a word has too few tokens for BLEU
    dev_limit=args.unseen,
    device="cpu",
    name="third-person",
)  # fmt: skip
if not finished(experiment):
    run(experiment)
model = levt.load(args.out / "run" / "best", device="cpu", engine="torch")
tokenizer = model.engine.tokenizers.target


# %% How a state is drawn: one row, one cell per token
Row = tuple[str, list[tuple[str, str]]]
COLOURS = {"keep": "#ece8f6", "delete": "#f6b8b2", "hole": "#ffffff", "new": "#cdb4f0", "wrong": "#f6b8b2"}


def draw(rows: list[Row], title: str, path: Path) -> None:
    """States below each other, as a picture."""
    wide = max(len(cells) for _, cells in rows)
    figure = Figure(figsize=(2.6 + 0.42 * wide, 0.55 * len(rows) + 0.7), layout="constrained")
    axes = figure.add_subplot()
    for y, (label, cells) in enumerate(rows):
        axes.text(-0.3, -y, label, ha="right", va="center", fontsize=10)
        for x, (piece, kind) in enumerate(cells):
            edge = {
                "edgecolor": "#5e35b1",
                "linestyle": "--" if kind == "hole" else "-",
                "facecolor": COLOURS[kind],
            }
            axes.add_patch(Rectangle((x, -y - 0.4), 0.9, 0.8, **edge))
            axes.text(x + 0.45, -y, piece, ha="center", va="center", fontsize=12 if len(piece) < 3 else 6)
    axes.set_xlim(-5.5, wide)
    axes.set_ylim(-len(rows) + 0.4, 0.7)
    axes.set_title(title, loc="left")
    axes.axis("off")
    figure.savefig(path, dpi=110)
    print(f"{title}: {path}")


def cells(tokens: tuple[int, ...], kinds: list[str] | None = None) -> list[tuple[str, str]]:
    """Tokens as cells; a placeholder is an empty one."""
    shown = ["" if token == PLH else tokenizer.pieces([token])[0].replace("▁", "·") for token in tokens]
    return list(zip(shown, kinds or ["hole" if token == PLH else "keep" for token in tokens], strict=True))


# %% Algorithm 1, once, by hand: what the policies learn from one pair
source, target = "bury", "buries"
y_star = tuple(tokenizer.encode(target))
kept = np.random.default_rng(4).random(len(y_star)) < 0.5

# Learning to insert: take tokens out of the target; the expert knows what is missing.
y_ins = tuple(token for token, keep in zip(y_star, kept, strict=True) if keep)
expert = between(y_ins, y_star)
y_ins_open = expert.inserted(y_ins)

# Learning to delete: the model fills the placeholders; the expert knows what is wrong. A trained model is rarely wrong
# about so easy a word, so its guesses are drawn at a high temperature here; training draws them as they are.
TEMPERATURE = 2.0
network = model.engine.network
assert isinstance(network, LevT)
with torch.inference_mode():
    memory = network.encode(torch.tensor([[BOS, *model.engine.tokenizers.source.encode(source), EOS]]))
    y = torch.tensor([[BOS, *y_ins_open, EOS]])
    logp = network.token(memory, y, y.eq(PLH))
    chances = (logp / TEMPERATURE).softmax(-1)
    guesses = torch.multinomial(chances, 1, generator=torch.Generator().manual_seed(3)).squeeze(1).tolist()
y_del = EditScript(drop=expert.drop, counts=expert.counts, fill=tuple(guesses)).apply(y_ins)
wrong = between(y_del, y_star).drop

print("p*, the counts to learn:", expert.counts)
print("t*, the tokens to learn:", tokenizer.pieces(expert.fill))
print("the model's own guesses:", tokenizer.pieces(guesses))
print("d*, the deletions to learn:", [int(drop) for drop in wrong])
draw(
    [
        ("target y*", cells(y_star)),
        ("random deletion", cells(y_star, ["keep" if keep else "delete" for keep in kept])),
        ("y_ins", cells(y_ins)),
        ("y′_ins, p* opened", cells(y_ins_open)),
        ("y_del, model fills", cells(y_del)),
        ("d*: what must go", cells(y_del, ["wrong" if drop else "keep" for drop in wrong])),
    ],
    f"Algorithm 1: one exercise for “{source}”",
    args.out / "algorithm1.png",
)

# %% Algorithm 2: the model at work, from nothing and from a draft
rows: list[Row] = []
for draft in ("", "burys"):
    result = model.refine(source, draft=draft) if draft else model.translate(source)
    states = result.trace.replay()
    rows.append((f"draft “{draft}”" if draft else "empty canvas", cells(states[0])))
    for number, (iteration, state) in enumerate(zip(result.trace.iterations, states, strict=False), 1):
        script = iteration.script
        if any(script.drop):
            gone = ["delete" if drop else "keep" for drop in script.drop]
            rows.append((f"{number}  delete", cells(state, gone)))
        if script.fill:
            new = script.splice(["keep"] * len(state), ["new"] * len(script.fill))
            rows.append((f"{number}  placeholders", cells(script.inserted(state))))
            rows.append((f"{number}  fill", cells(script.apply(state), list(new))))
        if script.is_identity:
            rows.append((f"{number}  nothing changes", cells(state)))
    print(
        f"{draft or '(empty)':<10} {result.text:<12} {result.iterations} iterations, stopped: {result.stopped}"
    )
draw(rows, f"Algorithm 2: “{source}” to “{target}”", args.out / "algorithm2.png")

# %% How often is it right, for verbs that it has not seen?
fresh = [verb(random.Random(10_000 + i)) for i in range(args.unseen)]
answers = model.translate(fresh)
right = sum(answer.text == third_person(word) for answer, word in zip(answers, fresh, strict=True))
print(f"{right} of {len(fresh)} unseen verbs are right")
