"""Turn a checkpoint of another program into a model folder, or a model into another format."""

import sys
from pathlib import Path
from typing import Literal

from levt.cli._flags import File, Flag, Maybe, ModelName


def fairseq(
    checkpoint: File,
    *,
    dict: Path,
    out: Path,
    source_dict: Maybe[Path] = None,
    continuation: Maybe[str] = None,
    dtype: Literal["float32", "float16", "bfloat16"] = "float32",
) -> None:
    """Convert a Levenshtein Transformer of fairseq; nothing in the checkpoint is executed.

    The model reads and writes pieces between spaces, as fairseq did ("▁A ▁dog", or "un@@ likely").

    Example: levt convert fairseq checkpoint_best.pt --dict dict.de.txt --source-dict dict.en.txt --out converted

    Args:
        checkpoint: File that fairseq saved (checkpoint_best.pt).
        dict: The dict.txt of the target language, or of both.
        out: Model folder to write.
        source_dict: The dict.txt of the source language, where it differs.
        continuation: Mark of a piece that the next one continues, such as "@@"; marked pieces are joined in the output.
        dtype: Precision of the stored weights.
    """
    from levt.convert.fairseq import convert_fairseq
    from levt.policy.card import Card
    from levt.policy.folder import save_folder

    converted = convert_fairseq(checkpoint, dict, source_dictionary=source_dict, continuation=continuation)
    languages = tuple(name for name in converted.training["languages"] if name)
    card = Card(
        name=out.absolute().name,
        summary=f"A Levenshtein Transformer converted from the fairseq checkpoint {checkpoint.name}.",
        languages=languages,
        limits="Reads and writes text that is segmented already: pieces between spaces.",
    )
    save_folder(out, converted.model, converted.tokenizers, card, dtype=dtype, training=converted.training)
    count = sum(p.numel() for p in converted.model.parameters())
    print(f"{out}: {count:,} parameters, {converted.tokenizers.target.size:,} pieces", file=sys.stderr)


def onnx(model: ModelName, *, out: Path, int8: Flag = False, no_weights: Flag = False) -> None:
    """Write a model as ONNX graphs, which the engines onnx and onnx-int8 run on a CPU.

    Those engines write graphs for themselves when a model has none; this puts them into a folder to be kept or sent.

    Example: levt convert onnx runs/multi30k-levt/best --out multi30k-onnx --int8

    Args:
        model: A model folder, a bundled model, or an id of the hub.
        out: Model folder to write, a copy with the graphs; one that holds this model already only gets the graphs.
        int8: Products of bytes: a quarter of the size, faster, and not quite exact.
        no_weights: Leave the weights out; only the ONNX engines can run such a copy.
    """
    from levt.convert.onnx import convert_onnx
    from levt.policy.hub import resolve

    converted = convert_onnx(resolve(model), out, "int8" if int8 else "float32", weights=not no_weights)
    print(f"{converted.graphs.folder}: {converted.bytes / 1e6:,.1f} MB", file=sys.stderr)
    for error in converted.errors:
        print(
            f"  {error.scores:<12} scores differ by {error.relative:.2%}, {error.same:.1%} of decisions are the same",
            file=sys.stderr,
        )


def compact(
    model: ModelName, *, out: Path, dtype: Literal["int4", "int8", "float16", "bfloat16", "float32"] = "int8"
) -> None:
    """Write a model with its weights stored in less space; it computes in float32 on a CPU as before.

    Example: levt convert compact runs/multi30k-levt/best --out small

    Args:
        model: A model folder, a bundled model, or an id of the hub.
        out: Model folder to write.
        dtype: int8 keeps each matrix as bytes with a scale for each row (a quarter of float32), int4 as half bytes with
            a scale for every 32 weights (about a sixth; look at the quality), float16 is half of float32.
    """
    from levt.convert.compact import compact as run
    from levt.policy.hub import resolve

    found = run(resolve(model), out, dtype)
    print(
        f"{out}: {found.after / 1e6:,.1f} MB (before {found.before / 1e6:,.1f}), "
        f"weights differ by {found.error:.2%} at most",
        file=sys.stderr,
    )


COMMANDS = {"compact": compact, "fairseq": fairseq, "onnx": onnx}
