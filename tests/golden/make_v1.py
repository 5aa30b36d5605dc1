"""Writes tests/golden/v1, the model that every later levt must load and run to the same numbers.

Run it only where the format is new and unpublished: ``python tests/golden/make_v1.py``. Once a version is
published its folder is never written again.
"""

import json
from pathlib import Path

import torch

from levt.policy.card import Card
from levt.policy.config import LevTConfig
from levt.policy.folder import Tokenizers, save_folder
from levt.policy.levt import LevT
from levt.text.specials import BOS, EOS, PLH, SPECIALS
from levt.text.tokenizer import Tokenizer

FOLDER = Path(__file__).parent / "v1"
EXPECTED = Path(__file__).parent / "v1_expected.json"
SOURCE, DRAFT, OPEN = "ein Hund läuft", "a cat runs", [BOS, 5, PLH, PLH, EOS]


def numbers(model: LevT, tokenizers: Tokenizers) -> dict[str, list[object]]:
    """What the model computes for one source and one draft, rounded to six digits."""
    with torch.no_grad():
        memory = model.encode(torch.tensor([[BOS, *tokenizers.source.encode(SOURCE), EOS]]))
        y = torch.tensor([[BOS, *tokenizers.target.encode(DRAFT), EOS]])
        state = torch.tensor([OPEN])
        token = model.token(memory, state, state.eq(PLH))[:, len(SPECIALS) :]
        found = {
            "source": torch.tensor(tokenizers.source.encode(SOURCE)),
            "encoder": memory.states,
            "delete": model.delete(memory, y),
            "placeholder": model.placeholder(memory, y),
            "token": token,
        }
    return {name: tensor.double().mul(1e6).round().div(1e6).tolist() for name, tensor in found.items()}


def main() -> None:
    """Write the folder and its numbers."""
    torch.manual_seed(1)
    tokenizers = Tokenizers(
        Tokenizer.from_pieces(["ein", "eine", "Hund", "Katze", "läuft", "schläft"]),
        Tokenizer.from_pieces(["a", "dog", "cat", "runs", "sleeps"]),
    )
    config = LevTConfig(
        source_vocabulary=tokenizers.source.size,
        target_vocabulary=tokenizers.target.size,
        joint_embeddings=False,
        width=8,
        hidden=8,
        heads=2,
        encoder_layers=1,
        decoder_layers=2,
        max_length=12,
        positions="learned",
        norm="pre",
        sharing="plh+tok",
        delete_exit=1,
        max_count=3,
    )
    model = LevT(config).eval()
    card = Card(name="golden v1", summary="Random weights, to test that format 1 stays readable.")
    save_folder(FOLDER, model, tokenizers, card, training={"seed": 1})
    EXPECTED.write_text(json.dumps(numbers(model, tokenizers)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
