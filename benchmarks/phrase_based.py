"""How fast is the phrase-based black box trained, how fast does it translate, and how well?

    python benchmarks/phrase_based.py --train train.en train.de --dev val.en val.de
    python benchmarks/phrase_based.py --train train.en train.de --dev val.en val.de --links fwd rev

With ``--links`` the same system is also built on links of another aligner, one file for each direction in the form
``0-0 1-2`` (source-target), made from the words that ``--words FOLDER`` writes. Times are of one core.
"""

import resource
import time
from itertools import islice
from pathlib import Path

import numpy as np
import tyro

from levt.data.aligned import aligned
from levt.evaluation.metrics import bleu
from levt.recipes.black_boxes.phrase import system as phrases
from levt.recipes.black_boxes.phrase.alignment import Aligner
from levt.recipes.black_boxes.phrase.corpus import Side
from levt.recipes.black_boxes.phrase.decoder import Search
from levt.recipes.black_boxes.phrase.words import learn_lowered, lower_first, split_words


def measured(name: str, pairs: list[tuple[str, ...]], dev: list[tuple[str, ...]], search: Search) -> None:
    """Train, translate, score: one row of the table."""
    begun = time.process_time()
    system = phrases.PhraseSystem.train([x for x, _ in pairs], [y for _, y in pairs])
    training = time.process_time() - begun
    system.search = search
    begun = time.process_time()
    written = system.translate([x for x, _ in dev])
    rate = len(dev) / (time.process_time() - begun)
    score = bleu(written, [y for _, y in dev])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"| {name} | {len(pairs):,} | {training:.1f} | {len(system.table.words):,} | {rate:.0f} | "
        f"{score.value:.2f} | {peak:,.0f} |"
    )


class Foreign(Aligner):
    """Links that were read from files."""

    files: tuple[Path, ...] = ()
    made = 0

    def __init__(self, source: Side, target: Side, vocabulary: int) -> None:
        """The first one made is from source to target, the second the other way round."""
        super().__init__(source, target, vocabulary)
        self.turned = bool(Foreign.made % 2)
        self.links = Foreign.files[Foreign.made % 2].read_text("utf-8").splitlines()
        Foreign.made += 1

    def fit(self, *_: object, **__: object) -> None:
        """Nothing to learn."""

    def align(self, rows: np.ndarray) -> np.ndarray:
        """The links of a block."""
        lengths = self.target.lengths[rows].max(), self.source.lengths[rows].max()
        links = np.zeros((len(rows), *lengths), np.bool_)
        for k, row in enumerate(rows):
            for link in self.links[row].split():
                x, y = map(int, link.split("-"))
                links[(k, x, y) if self.turned else (k, y, x)] = True
        return links


def main(
    train: tuple[Path, Path],
    dev: tuple[Path, Path],
    limit: int | None = None,
    links: tuple[Path, Path] | None = None,
    words: Path | None = None,
    distortion: tuple[int, ...] = (3,),
) -> None:
    """Print a table, or write the words for another aligner."""
    pairs, held = list(islice(aligned(*train), limit)), list(aligned(*dev))
    if words is not None:
        words.mkdir(parents=True, exist_ok=True)
        for name, side in zip(("source", "target"), zip(*pairs, strict=True), strict=True):
            split = [split_words(text) for text in side]
            lowered = learn_lowered(split)
            lines = (" ".join(lower_first(sentence, lowered)) + "\n" for sentence in split)
            (words / f"{name}.txt").write_text("".join(lines), "utf-8")
        return
    print(
        "| alignment, distortion | pairs | training CPU s | phrase pairs | sentences/CPU s | BLEU | peak MB |"
    )
    print("|---|---|---|---|---|---|---|")
    for limit_ in distortion:
        measured(f"own, {limit_}", pairs, held, Search(distortion=limit_))
    if links is not None:
        Foreign.files = links
        phrases.Aligner = Foreign  # type: ignore[misc]
        measured(f"from files, {distortion[0]}", pairs, held, Search(distortion=distortion[0]))


if __name__ == "__main__":
    tyro.cli(main)
