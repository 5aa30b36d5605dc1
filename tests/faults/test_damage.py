"""Files that are cut off or have a bit flipped: found, named, never used."""

import dataclasses
import random
import shutil
from pathlib import Path

import pytest
import torch
from fault_runs import contents, corpus, distillation, refused, write_lines

import levt
from levt.cli import main
from levt.data.store import Store
from levt.errors import ModelError, StoreError
from levt.recipes import recipe
from levt.recipes.experiment import run
from levt.training.checkpoint import Standing, read_checkpoint, write_checkpoint
from tiny_models import save_tiny


def cut(path: Path, rng: random.Random) -> None:
    """Leave the first part of a file; more goes than the newline at its end."""
    path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size - 1)])


def flip(path: Path, rng: random.Random) -> None:
    """Flip one bit of a file."""
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def copies(folder: Path, times: int) -> list[tuple[Path, Path]]:
    """Copies of a folder, each with one of its files to be damaged, each file so many times."""
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    found = []
    for number, name in enumerate(name for name in names if name.suffix != ".md" for _ in range(times)):
        copy = folder.with_name(f"{folder.name}-{number}")
        shutil.copytree(folder, copy)
        found.append((copy, copy / name))
    return found


@pytest.mark.fault("a file cut off", "of a prepared corpus", "opening it is an error that names the file")
def test_store_cut(tmp_path: Path) -> None:
    rng = random.Random()
    for copy, file in copies(corpus(tmp_path) / "train", 3):
        cut(file, rng)
        with pytest.raises(StoreError, match=file.name):
            Store.open(copy)


@pytest.mark.fault(
    "a bit flipped", "in the tokens of a prepared corpus", "training on it is an error that names the file"
)
def test_store_flipped(tmp_path: Path) -> None:
    rng = random.Random()
    good = corpus(tmp_path)
    for copy, file in copies(good / "train", 5):
        if file.name == "meta.json":
            continue  # a digit of a number that nothing depends on
        flip(file, rng)
        with pytest.raises(StoreError, match=file.name):
            Store.open(copy).verify()
    flip(next((good / "train").glob("*.target.tokens")), rng)
    with pytest.raises(StoreError, match="checksum"):
        run(dataclasses.replace(recipe("multi30k-levt"), corpus=good, out=tmp_path / "run", device="cpu"))


@pytest.mark.fault("a file cut off", "of a model folder", "loading it is an error that names the file")
@pytest.mark.fault(
    "a bit flipped", "in the weights or tokenizer of a model", "loading it is an error that names the file"
)
def test_model(tmp_path: Path) -> None:
    rng = random.Random()
    for damage in (cut, flip):
        for copy, file in copies(save_tiny(tmp_path / damage.__name__), 3):
            if file.name == "config.json" and damage is flip:
                continue  # a letter of a name, say
            damage(file, rng)
            with pytest.raises(ModelError) as caught:
                levt.load(copy, device="cpu")
            assert file.name in str(caught.value)


@pytest.mark.fault(
    "a file cut off", "of a checkpoint", "resuming is an error that names it and says what to do"
)
@pytest.mark.fault(
    "a bit flipped",
    "in the weights of a checkpoint",
    "resuming is an error that names it and says what to do",
)
def test_checkpoint(tmp_path: Path) -> None:
    rng = random.Random()
    folder = tmp_path / "step-00000007"
    write_checkpoint(folder, Standing(step=7), {"master": torch.arange(60.0)}, {"seed": 1})
    for damage in (cut, flip):
        for copy, file in copies(folder, 3):
            if damage is flip and file.suffix == ".json":
                continue  # a digit of the seconds, say
            damage(file, rng)
            with pytest.raises(ModelError, match=f"{copy.name} is damaged") as caught:
                read_checkpoint(copy, {"seed": 1})
            assert "resumes from the checkpoint before it" in str(caught.value)
            shutil.rmtree(copy)


@pytest.mark.fault(
    "a file cut off",
    "of finished shards of translate",
    "run again, it is found by its checksum and made again",
)
@pytest.mark.fault(
    "a bit flipped",
    "in finished shards of translate",
    "run again, it is found by its checksum and made again",
)
def test_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = random.Random()
    model, source = save_tiny(tmp_path / "model", seed=3), write_lines(tmp_path / "big.txt", 8)
    call = ["translate", "--model", str(model), "--input", str(source), "--shard-lines", "2", "--device", "cpu",
            "--max-iterations", "1", "--output", str(tmp_path / "out")]  # fmt: skip
    main(call)
    good = contents(tmp_path / "out")
    cut(tmp_path / "out" / "big-00001.txt", rng)
    flip(tmp_path / "out" / "big-00003.txt", rng)
    capsys.readouterr()
    main(call)
    assert "made again: 2 damaged shards" in capsys.readouterr().err
    assert contents(tmp_path / "out") == good


@pytest.mark.fault(
    "a file cut off",
    "of the finished pieces of distill",
    "an error that names the file; without it, it goes on",
)
def test_pieces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = distillation(tmp_path, 8, shard=2)
    main([*call, str(tmp_path / "whole")])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("levt.recipes.distil.assemble", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            main([*call, str(tmp_path / "out")])
    piece = tmp_path / "out.work" / "00002.json"
    cut(piece, random.Random())
    assert "00002.json is damaged" in refused([*call, str(tmp_path / "out")], capsys)
    assert not (tmp_path / "out").exists()
    piece.unlink()
    main([*call, str(tmp_path / "out")])
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
