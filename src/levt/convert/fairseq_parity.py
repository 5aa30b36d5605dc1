"""Does a converted model compute what fairseq computes? Compares numbers with a recorded run of fairseq.

The folder holds ``checkpoint.pt``, ``dict.txt`` (``dict.source.txt`` too where the source has its own),
``expected.json`` and ``expected.npz``. Each case of the first names pieces: ``source``, ``state`` and
``state_with_placeholders``; the second holds, by the case's id, ``ID.encoder`` (states), ``ID.delete``,
``ID.placeholder`` and ``ID.token`` (natural log-probabilities, of tokens at the placeholders only). Where the
first also has ``decoding``, the texts that fairseq wrote are compared too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor

from levt.convert.fairseq import Converted, convert_fairseq
from levt.convert.fairseq_decoding import Decoded, compare_decoding
from levt.convert.fairseq_dictionary import columns_in_their_order
from levt.convert.fairseq_recorded import HEADS, read_recorded
from levt.errors import InputError
from levt.policy.layout import Padded
from levt.policy.scores import log_softmax_tokens
from levt.text.specials import BOS, EOS, PLH, SPECIALS, UNK
from levt.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Difference:
    """How far one head is from fairseq's."""

    head: str
    cases: int
    values: int
    largest: float
    """Largest absolute difference."""

    def within(self, tolerance: float) -> bool:
        """Whether it is near enough; NaN is not."""
        return self.largest <= tolerance


def parity(folder: Path) -> list[Difference]:
    """Convert the checkpoint of a folder and compare every head in every case."""
    recorded, expected = read_recorded(folder)
    return differences(_converted(folder), recorded["cases"], expected)


def decoding(folder: Path) -> Decoded | None:
    """Convert the checkpoint of a folder and compare what it writes; None where no texts were recorded."""
    cases = read_recorded(folder)[0].get("decoding")
    return compare_decoding(_converted(folder), cases) if cases else None


def _converted(folder: Path) -> Converted:
    own = folder / "dict.source.txt"
    return convert_fairseq(
        folder / "checkpoint.pt", folder / "dict.txt", source_dictionary=own if own.exists() else None
    )


@torch.no_grad()
def differences(converted: Converted, cases: list[Any], expected: Mapping[str, Any]) -> list[Difference]:
    """Compare every head in every case."""
    found: dict[str, list[tuple[float, int]]] = {head: [] for head in HEADS}
    for case in cases:
        for head, ours in computed(converted, case):
            theirs = torch.from_numpy(expected[f"{case['id']}.{head}"].astype(numpy.float64))
            if ours.shape != theirs.shape:
                raise InputError(
                    f"case {case['id']}: {head} must have the shape {tuple(ours.shape)}, has {tuple(theirs.shape)}",
                    hint="were these numbers recorded from this checkpoint?",
                )
            gap = (ours - theirs).abs()
            found[head].append((float(gap.max()) if gap.numel() else 0.0, gap.numel()))
    return [
        # torch's max keeps a NaN, which Python's would lose.
        Difference(head, len(gaps), sum(n for _, n in gaps), float(torch.tensor([g for g, _ in gaps]).max()))
        for head, gaps in found.items()
        if gaps
    ]


def computed(converted: Converted, case: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """What our model computes in a case, in fairseq's order of classes."""
    model, tokenizers = converted.model, converted.tokenizers
    memory = model.encode(_sequence(tokenizers.source, case["source"]))
    yield "encoder", memory.states[0]
    y = _sequence(tokenizers.target, case["state"])
    yield "delete", model.delete(memory, y)[0]
    yield "placeholder", model.placeholder(memory, y)[0]
    y = _sequence(tokenizers.target, case["state_with_placeholders"])
    logits = model.token_logits(model.hidden(memory, y, Padded.of(y), "token"))[0][y[0].eq(PLH)]
    columns = columns_in_their_order(tokenizers.target.size - len(SPECIALS))
    yield "token", log_softmax_tokens(logits)[:, columns]


def _sequence(tokenizer: Tokenizer, pieces: list[str]) -> Tensor:
    """A row of one sequence with its boundaries."""
    known = [tokenizer.id_of(piece) for piece in pieces]
    return torch.tensor([[BOS, *(UNK if i is None else i for i in known), EOS]])
