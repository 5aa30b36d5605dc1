"""A checkpoint of fairseq's Levenshtein Transformer becomes a model of ours. Executes nothing in the file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from levt.convert.fairseq_checkpoint import read_checkpoint
from levt.convert.fairseq_dictionary import FAIRSEQ_SPECIALS, read_dictionary
from levt.convert.fairseq_settings import model_settings, our_config, towers
from levt.convert.fairseq_weights import HEADS, Tensors, our_weights
from levt.errors import ModelError
from levt.policy.folder import Tokenizers, unseeded
from levt.policy.levt import LevT
from levt.policy.weights import sha256
from levt.text.specials import SPECIALS
from levt.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Converted:
    """A model from elsewhere, ready to be saved."""

    model: LevT
    tokenizers: Tokenizers
    training: dict[str, Any]
    """Where it comes from."""


def convert_fairseq(
    checkpoint: Path,
    dictionary: Path,
    *,
    source_dictionary: Path | None = None,
    continuation: str | None = None,
) -> Converted:
    """Convert; ``continuation`` is the mark of pieces that the next one continues (``@@``), if there is one."""
    file = read_checkpoint(checkpoint)
    settings = model_settings(file.data)
    tensors = Tensors(file)
    target = Tokenizer.from_pieces(read_dictionary(dictionary), continuation=continuation)
    source = (
        target
        if source_dictionary is None
        else Tokenizer.from_pieces(read_dictionary(source_dictionary), continuation=continuation)
    )
    pieces = (source.size - len(SPECIALS), target.size - len(SPECIALS))
    for side, count in zip(("encoder", "decoder"), pieces, strict=True):
        rows = tensors.rows(f"{side}.embed_tokens.weight")
        if rows != count + FAIRSEQ_SPECIALS:
            raise ModelError(
                f"the {side}'s table has {rows} rows, but its dictionary {count} pieces and "
                f"{FAIRSEQ_SPECIALS} symbols",
                hint="give the dict.txt the model was trained with, and --source-dict where the source has its own",
            )
    config = our_config(
        settings,
        source_vocabulary=source.size,
        target_vocabulary=target.size,
        max_count=tensors.rows(HEADS[1]) - 1,
    )
    weights = our_weights(tensors, config, towers(settings), pieces)
    tensors.finish()
    with unseeded():
        model = LevT(config)
    model.load_state_dict(weights)
    training = {
        "converted_from": "fairseq",
        "checkpoint": checkpoint.name,
        "sha256": sha256(checkpoint),
        "arch": settings.get("arch"),
        "languages": [settings.get("source_lang"), settings.get("target_lang")],
    }
    return Converted(model.eval(), Tokenizers(source, target), training)
