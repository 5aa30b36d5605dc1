"""A step in a process of its own: ``python -m levt.recipes.reproduce.framework.child ORDER``. Started by the runner."""

import importlib
import json
import sys
import traceback
from pathlib import Path

from levt.errors import LevtError
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.framework.workplace import Workplace


def main(order: Path) -> int:
    """Do the step of an order; trouble is left in a file for the runner to tell."""
    known = json.loads(order.read_text("utf-8"))
    module, _, name = known["function"].partition(":")
    step = Step(
        label=known["label"],
        run=getattr(importlib.import_module(module), name),
        inputs={name: Path(path) for name, path in known["files"].items()},
        config=known["config"],
        version=known["version"],
        resumes=known["resumes"],
    )
    # The runner has computed these; the steps before are known here by their digests alone.
    step.__dict__.update({name: known[name] for name in ("digest", "checksums", "read")})
    inputs = {name: Path(path) for name, path in known["inputs"].items()}
    job = Job(
        label=known["label"],
        inputs=inputs,
        config=known["config"],
        out=Path(known["out"]),
        tell=lambda text: print(text, flush=True),
    )
    try:
        Workplace(Path(known["work"])).do(step, job)
    except LevtError as error:
        return _tell(known["trouble"], error.message, error.hint)
    except Exception as error:
        traceback.print_exc()
        return _tell(known["trouble"], f"{type(error).__name__}: {error}", None)
    return 0


def _tell(trouble: str, message: str, hint: str | None) -> int:
    Path(trouble).write_text(json.dumps({"message": message, "hint": hint}), encoding="utf-8")
    return 2


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
