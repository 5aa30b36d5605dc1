"""The card of levt-en-de: what it was made from, what it can do, what it must not be used for. Measures nothing."""

from collections.abc import Mapping

from levt.policy.card import Card
from levt.recipes.bundled import NAME

DATA = {
    "Europarl English–German, 400,000 sentence pairs": "European Parliament; reuse with acknowledgement of the source",
    "Tatoeba English–German, 164,354 sentence pairs": "CC BY 2.0 FR, tatoeba.org and its contributors",
    "Multi30k English–German, 29,000 captions": "no licence stated; released for research",
}
COMMAND = """sh benchmarks/bundled_corpus.sh DATA corpora/bundled
levt chain bundled-ar bundled-levt --corpus corpora/bundled --out runs/bundled --processes 6 \\
    --distillation.batch-size 256 --distillation.shard 4096
levt convert compact runs/bundled/student/best --out levt-en-de --dtype int4
# This is the third version. Its student began not as its teacher but as the second, which had begun as a teacher
# of its own and learnt for 17 minutes; so the corpus was cut into that one's pieces
# (TOKENIZER=levt-en-de/tokenizer.json). The steps of the chain were run one by one, as if it had
#   --student.init levt-en-de --student.training.learning-rate 4e-4 --student.training.warmup 300
#   --teacher.training.max-minutes 6.9 --student.training.max-minutes 14.9"""
LIMITS = """\
- It was trained for minutes on parliament speeches, everyday sentences and captions. News, law, medicine, software
  and slang are outside of what it knows, and it does not say so: it writes fluent sentences that are wrong.
- It leaves out words, repeats words and misreads negation and numbers more often than a large system would. A person
  who reads both languages must check whatever matters.
- It must not be used where a wrong translation can hurt somebody: medical, legal, safety or asylum texts among them.
- One sentence at a time: it knows no context, no document, and chooses "du" or "Sie" and genders by habit. What the
  corpora take for granted about people, it does too.
- English in, German out; other languages come out as nonsense. Texts of more than 250 tokens are parted."""


def bundled_card(scores: Mapping[str, str] | None = None) -> Card:
    """The card, with scores where they have been measured."""
    return Card(
        name=NAME,
        summary=(
            "A Levenshtein Transformer for English→German that translates from nothing and repairs drafts. It is small "
            "(50 million parameters, stored in four bits) and comes with levt, so that the first command works offline."
        ),
        languages=("en", "de"),
        licence="other",
        data=DATA,
        command=COMMAND,
        scores=scores or {},
        intended_use=(
            "Trying levt out, demonstrations, tests of servers and editors, a starting point for experiments. The "
            "corpora are for research and reuse with acknowledgement; see below before you use it for anything else."
        ),
        limits=LIMITS,
    )
