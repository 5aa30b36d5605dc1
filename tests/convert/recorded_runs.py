"""Runs of the stand-in, recorded as those of fairseq are."""

import json
from pathlib import Path
from typing import Any

import numpy
from fairseq_stand_in import PIECES, StandIn


def cases(stand_in: StandIn) -> list[dict[str, Any]]:
    p, source = PIECES, stand_in.source_pieces
    return [
        {
            "id": "00",
            "source": source[:3],
            "state": p[:4],
            "state_with_placeholders": [p[0], "<plh>", p[1], "<plh>"],
        },
        {"id": "01", "source": source[2:4], "state": [], "state_with_placeholders": ["<plh>"] * 3},
        {
            "id": "02",
            "source": source[:1],
            "state": [p[2], "<unk>", p[7]],
            "state_with_placeholders": [*p, "<plh>"],
        },
    ]


def expected(stand_in: StandIn) -> dict[str, numpy.ndarray]:
    found = {}
    for case in cases(stand_in):
        computed = stand_in.policies(case["source"], case["state"], case["state_with_placeholders"])
        found |= {f"{case['id']}.{head}": value.numpy() for head, value in computed.items()}
    return found


def recorded(stand_in: StandIn, folder: Path) -> Path:
    stand_in.save(folder)
    if stand_in.joint:
        (folder / "dict.source.txt").unlink()
    (folder / "expected.json").write_text(json.dumps({"cases": cases(stand_in)}), encoding="utf-8")
    numpy.savez(folder / "expected.npz", **expected(stand_in))
    return folder
