"""What is written in colours, to somebody who has stopped to read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"


@pytest.mark.parametrize("verb", ["show", "translate"])
def test_nobody_reads_any_more(verb: str) -> None:
    """In colours or not, a verb ends with the status of a filter that its pipe was closed on, and without a word."""
    read, write = os.pipe()
    os.close(read)
    words = [*((verb, "A dog runs.") if verb == "show" else (verb,)), "--model", str(GOLDEN)]
    run = subprocess.run(
        [sys.executable, "-m", "levt", *words],
        input="A dog runs.\n",
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    assert (run.returncode, run.stderr) == (141, "")
