"""A shell in which ``levt`` starts at once, and a folder with the toy model of the guides, both made once."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_shell import ROOT, Shell


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A folder for PATH with a levt that starts at once."""
    folder = tmp_path_factory.mktemp("bin")
    server = [sys.executable, str(Path(__file__).with_name("quick_levt.py"))]
    path = folder / "levt.socket"
    # Relative: the path of a socket must be short.
    process = subprocess.Popen(
        [*server, path.name],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    link = Path("/tmp") / f"levt-docs-{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(folder)
    levt = folder / "levt"
    levt.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{server[1]}" "{link}/{path.name}" -- "$@"\n')
    levt.chmod(0o755)
    assert process.stdout.readline() == "ready\n"
    yield str(folder)
    process.stdin.close()
    process.stdout.close()
    process.wait(30)
    link.unlink()


@pytest.fixture(scope="session")
def toy(tools: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reader who has followed "A model to play with", with fewer sentences and 6 steps."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "examples").symlink_to(ROOT / "examples")
    sys.path.append(str(ROOT / "examples"))
    from toy_pair import write

    write(folder / "toy", train=400)
    shell = Shell(folder, tools)
    shell.run(
        "levt prepare --train toy/train.en toy/train.de --dev toy/dev.en toy/dev.de --test toy/test.en toy/test.de"
        " --vocabulary 500 --out corpora/toy\n"
        "levt train examples/toy_pair.py:student --training.max-steps 6 --dev-limit 4"
    )
    return folder


@pytest.fixture
def shell(tools: str, tmp_path: Path) -> Iterator[Shell]:
    found = Shell(tmp_path, tools)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    yield found
    found.close()


@pytest.fixture
def with_toy(shell: Shell, toy: Path) -> Shell:
    """The same, with the toy model in its folder."""
    for name in ("toy", "corpora", "runs"):
        shutil.copytree(toy / name, shell.folder / name)
    (shell.folder / "path" / "to").mkdir(parents=True)
    sys.path.append(str(ROOT / "tests" / "convert"))
    from fairseq_stand_in import StandIn  # a checkpoint as fairseq writes it, for whoever comes from there

    checkpoint, dictionary, _ = StandIn().save(shell.folder)
    checkpoint.rename(shell.folder / "checkpoint_best.pt")
    assert dictionary.name == "dict.txt"
    (shell.folder / "path" / "to" / "model").symlink_to(shell.folder / "runs" / "toy-student" / "best")
    return shell


@pytest.fixture
def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
