"""A process that does steps, as the runner orders them: ``python -m levt.recipes.reproduce.framework.child``.

Orders come as lines of JSON on stdin, answers go as lines of JSON to the original stdout; whatever a step itself prints
goes to stderr, which the runner keeps in a log.
"""

import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from levt.errors import LevtError
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.framework.workplace import Workplace


def obey(order: dict[str, Any]) -> dict[str, Any]:
    """Do the step of an order; the answer says what went wrong, if something did."""
    module, _, name = order["function"].partition(":")
    step = Step(
        label=order["label"],
        run=getattr(importlib.import_module(module), name),
        inputs={name: Path(path) for name, path in order["files"].items()},
        config=order["config"],
        version=order["version"],
        resumes=order["resumes"],
    )
    # The runner has computed these; the steps before are known here by their digests alone.
    step.__dict__.update({name: order[name] for name in ("digest", "checksums", "read")})
    job = Job(
        label=order["label"],
        inputs={name: Path(path) for name, path in order["inputs"].items()},
        config=order["config"],
        out=Path(order["out"]),
        tell=lambda text: print(text, file=sys.stderr, flush=True),
    )
    try:
        Workplace(Path(order["work"])).do(step, job)
    except LevtError as error:
        return {"message": error.message, "hint": error.hint}
    except Exception as error:
        traceback.print_exc()
        return {"message": f"{type(error).__name__}: {error}", "hint": None}
    return {}


def main() -> None:
    """Obey until nobody orders any more."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            answers.write(json.dumps(obey(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
