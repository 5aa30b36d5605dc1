"""A process that does steps, as the runner orders them: ``python -m levt.recipes.reproduce.framework.child``.

Orders come as lines of JSON on stdin, answers go as lines of JSON to the original stdout; whatever a step itself prints
goes to stderr, which the runner keeps in a log. When the runner is gone, even by kill -9, the system closes its end of
stdin: the step that is being done then ends, too, a training with a checkpoint.
"""

import importlib
import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from levt.errors import LevtError
from levt.recipes.reproduce.framework.step import Job, Step
from levt.recipes.reproduce.framework.workers import PATIENCE
from levt.recipes.reproduce.framework.workplace import Workplace

BUSY = threading.Event()
"""Set while a step is being done."""


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


def follow_the_runner() -> None:
    """Wait until nobody can give orders any more, and end the step that is being done; to be run in a thread."""
    if not hasattr(select, "poll"):  # a system without: the step is done to its end
        return
    gone = select.poll()
    gone.register(0, 0)  # no event: what is told all the same is that the other end is closed
    gone.poll()
    BUSY.wait()
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # nothing that could be kept
        os._exit(1)
    # A training ends with a checkpoint. The runner may have asked by SIGTERM: signals of two kinds are one wish.
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE)
    os._exit(1)


def main() -> None:
    """Obey until nobody orders any more."""
    threading.Thread(target=follow_the_runner, daemon=True).start()
    with suppress(BrokenPipeError), os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            BUSY.set()
            answer = obey(json.loads(line))
            BUSY.clear()
            answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
