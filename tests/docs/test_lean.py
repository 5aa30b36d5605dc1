"""What is quick stays quick: imports and help do not pull in torch. Looked up in sys.modules, not timed."""

import json
import subprocess
import sys

HEAVY = (
    "torch",
    "numpy",
    "tokenizers",
    "safetensors",
    "huggingface_hub",
    "fastapi",
    "sacrebleu",
    "onnxruntime",
    "ray",
)


def imported(code: str) -> set[str]:
    """The top-level packages that are there after some code."""
    tell = f"{code}\nimport sys, json; print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", tell], check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_levt_imports_no_dependency() -> None:
    assert imported("import levt") & {*HEAVY, "rich", "tyro", "jaxtyping"} == set()


def test_help_imports_nothing_heavy() -> None:
    code = "from levt.cli import dispatch; dispatch(['--help']); dispatch(['--version'])"
    assert imported(code) & {*HEAVY} == set()


def test_help_of_a_verb_does_not_import_torch() -> None:
    code = """
from levt.cli import dispatch, verbs
for verb in verbs():
    try:
        dispatch([verb, "--help"])
    except SystemExit:
        pass
"""
    assert "torch" not in imported(code)
