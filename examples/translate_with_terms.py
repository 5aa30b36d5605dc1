"""Translation that obeys a glossary: terms, locks and words that must not appear.

    python examples/translate_with_terms.py   then open terms/edits.html

The model is a toy, trained here on a small grammar; with a real one the calls are the same. What it shows is that
steering is obeyed whatever the model thinks, and how the rest of the sentence moves around what is fixed.
"""

# %% A model
import argparse
from pathlib import Path

from toy_model import toy_model

import levt
from levt.edits.render_html import page, section

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
parser.add_argument("--out", type=Path, default=Path("terms"))
parser.add_argument("--steps", type=int)
parser.add_argument("--sentences", type=int, default=4_000)
parser.add_argument("--unseen", type=int, default=100)
args, _ = parser.parse_known_args()
model = toy_model(args.out, steps=args.steps, sentences=args.sentences, unseen=args.unseen)

source = "In the evening the old captain buys our oven."
told: list[tuple[str, levt.Result]] = []


def show(title: str, result: levt.Result) -> None:
    """Print a result and keep it for the page."""
    told.append((title, result))
    print(f"{title:<34} {result.text}   [{result.iterations} iterations, {result.passes} passes]")


# %% As it likes
show("freely", model.translate(source))

# %% A word of the customer's, which the model has never seen: "Backofen", not "Ofen"
result = model.translate(source, terms=["Backofen"], drop=["Ofen"])
show("term Backofen, without Ofen", result)
assert "Backofen" in result.text
assert "Ofen" not in result.text.rstrip(".").split()

# %% Several terms; in the order that the model likes best, or in the one given, be it good German or not
show("two terms, its own order", model.translate(source, terms=["Ofen", "Abend"]))
show("two terms, in this order", model.translate(source, terms=["Ofen", "Abend"], ordered=True))

# %% A draft of which a part is signed off
draft = "Am Abend verkauft der alte Kapitän den Hut."
show("draft, two words crossed out", model.refine(source, draft=draft, drop=["verkauft", "Hut"]))
result = model.refine(source, draft=draft, keep=["der alte Kapitän den Hut"], drop=["verkauft"])
show("the same, but the end is locked", result)
assert "der alte Kapitän den Hut" in result.text

# %% Different steering for different texts, in one batch
wishes = [
    levt.Wish(source="Now the young doctor sells a coat.", terms=["Mantel"]),
    levt.Wish(source="Today the happy farmer sees the key.", drop=["frohe"]),
    levt.Wish(source="The brave teacher carries his letter."),
]
for wish, result in zip(wishes, model.run(wishes), strict=True):
    show(wish.source[:32], result)

# %% Every edit, as a page
parts = [section(result.trace, title=title, lang="de") for title, result in told]
(args.out / "edits.html").write_text(
    page(parts, title="Translation with terms (toy model)"), encoding="utf-8"
)
print(f"every edit with its probability: {args.out / 'edits.html'}")
