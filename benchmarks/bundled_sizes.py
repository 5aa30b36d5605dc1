"""How large is a student? Parameters and megabytes on disk for widths, depths, ways of sharing and vocabularies.

    python benchmarks/bundled_sizes.py > benchmarks/results/bundled_sizes_202611.md

Nothing is trained. The tokenizer is counted at 32 bytes a piece (what that of 12,000 pieces takes); the limit of a
bundled model is 32 MB for the whole folder.
"""

from typing import Any

import torch

from levt.policy.build import build
from levt.policy.config import LevTConfig
from levt.policy.weights import packed, stored_tensors

LIMIT = 32.0
PIECE = 32
CANDIDATES: list[tuple[int, dict[str, Any]]] = [
    (vocabulary, {"width": width, "hidden": hidden, "heads": width // 64, **more})
    for vocabulary in (8_000, 12_000, 16_000)
    for width, hidden, more in (
        (256, 1024, {"sharing": "all"}),
        (256, 1024, {"sharing": "plh+tok"}),
        (320, 1280, {"sharing": "all"}),
        (320, 1280, {"sharing": "plh+tok", "delete_exit": 3}),
        (320, 1280, {"sharing": "plh+tok"}),
        (384, 1536, {"sharing": "all"}),
        (384, 1536, {"sharing": "all", "decoder_layers": 5}),
        (384, 1024, {"sharing": "plh+tok", "delete_exit": 2}),
        (384, 1536, {"sharing": "plh+tok", "delete_exit": 3}),
        (448, 1792, {"sharing": "all", "encoder_layers": 5, "decoder_layers": 4}),
        (512, 2048, {"sharing": "all", "encoder_layers": 4, "decoder_layers": 3}),
        (512, 2048, {"sharing": "all"}),
    )
]


def megabytes(config: LevTConfig, dtype: str) -> float:
    """Of the whole folder."""
    with torch.device("meta"):
        model = build(config)
    tensors = {name: torch.zeros(t.shape) for name, t in stored_tensors(model).items()}
    weights = sum(t.numel() * t.element_size() for t in packed(tensors, dtype).values())
    return (weights + config.target_vocabulary * PIECE + 20_000) / 1e6


def main() -> None:
    print("# Sizes of a student\n\n`python benchmarks/bundled_sizes.py`\n")
    print(
        "| vocabulary | width | hidden | layers | sharing (delete exit) | parameters M "
        "| fp16 MB | int8 MB | int4 MB | fits |"
    )
    print("|---:|---:|---:|---|---|---:|---:|---:|---:|---|")
    for vocabulary, fields in CANDIDATES:
        config = LevTConfig(
            source_vocabulary=vocabulary, target_vocabulary=vocabulary, max_length=256, norm="pre", **fields
        )
        with torch.device("meta"):
            count = sum(t.numel() for t in stored_tensors(build(config)).values())
        sizes = {dtype: megabytes(config, dtype) for dtype in ("float16", "int8", "int4")}
        fits = ", ".join(dtype for dtype, size in sizes.items() if size <= LIMIT) or "–"
        print(
            f"| {vocabulary:,} | {config.width} | {config.hidden} | {config.encoder_layers}+{config.decoder_layers} "
            f"| {config.sharing} ({config.exit_of('delete')}) | {count / 1e6:.1f} "
            f"| {' | '.join(f'{size:.1f}' for size in sizes.values())} | {fits} |"
        )


if __name__ == "__main__":
    main()
