"""What the host alone needs for a batch can be measured on any machine, by the command of the script."""

import os
import re
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "throughput.py"


def test_the_host_alone_is_measured_anywhere() -> None:
    command = [sys.executable, str(SCRIPT), "--host-only", "--batches", "2"]
    done = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"batch 2, 2 iterations, [1-9] waits\nhost: \d+\.\d\d ms a batch", done.stdout)
