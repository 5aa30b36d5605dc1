"""What a command pays before its first text: on a CPU nothing of torch's compiler is loaded, which takes seconds."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tiny_models import save_tiny

SLOW = ("torch._dynamo", "torch._inductor", "sympy", "transformers", "pandas", "matplotlib", "sacrebleu")


@pytest.mark.skipif(torch.cuda.device_count() > 0, reason="a GPU has kernels that need the compiler")
@pytest.mark.parametrize("kind", ["levt", "autoregressive"])
def test_no_compiler_for_a_text_on_a_cpu(tmp_path: Path, kind: str) -> None:
    folder = save_tiny(tmp_path / "model", kind)
    code = (
        f"import sys, levt; levt.load({str(folder)!r}, device='cpu').translate('A dog runs.');"
        f"print(*[name for name in {SLOW} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
