"""ONNX out: the graphs of a model, into its own folder or into a copy of it.

The graphs themselves are the engine's (``levt.engine.onnx_network``), which writes them also for itself.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from levt.convert.onnx_error import ScoreError, score_errors
from levt.engine.onnx_folder import Graphs, PrecisionName, identity, inside, write_graphs
from levt.errors import ModelError
from levt.policy.atomic import whole_folder
from levt.policy.folder import open_folder, refuse_strangers
from levt.policy.folder_config import FILES, WEIGHTS


@dataclass(frozen=True, kw_only=True)
class Converted:
    """What was written."""

    folder: Path
    """The model folder that has the graphs."""
    graphs: Graphs
    bytes: int
    """Size of the graphs."""
    errors: Sequence[ScoreError]
    """How far their scores are from those of the network."""


def convert_onnx(
    model: Path, folder: Path, precision: PrecisionName = "float32", *, weights: bool = True
) -> Converted:
    """Write the graphs of a model into a folder that holds this model, be it itself, or into a new copy of it.

    Without ``weights`` the copy has graphs only, and only the ONNX engines can run it.
    """
    if same_model(folder, model):
        if not weights and (folder / WEIGHTS).exists():
            raise ModelError(
                f"{folder} holds this model with its weights, which are not removed",
                hint="choose another folder for a copy without them",
            )
        graphs = write_graphs(inside(folder, precision), model, precision)
    else:
        refuse_strangers(folder)
        with whole_folder(folder) as new:
            for name in FILES:
                if (model / name).is_file() and (weights or name != WEIGHTS):
                    shutil.copyfile(model / name, new / name)
            write_graphs(inside(new, precision), model, precision)
        graphs = Graphs.read(inside(folder, precision), open_folder(folder))
    return Converted(
        folder=folder,
        graphs=graphs,
        bytes=sum(path.stat().st_size for path in graphs.folder.iterdir()),
        errors=score_errors(model, graphs),
    )


def same_model(folder: Path, model: Path) -> bool:
    """Whether a folder holds this very model."""
    if not folder.is_dir():
        return False
    try:
        return folder.samefile(model) or identity(open_folder(folder)) == identity(open_folder(model))
    except ModelError:
        return False
