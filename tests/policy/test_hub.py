"""Names to folders: bundled, on disk, or on a hub that is faked here, since no test needs a network."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
from saved_folders import saved

from levt.errors import ModelError
from levt.policy import hub
from levt.policy.folder import load_folder

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def cached(model: Path, cache: Path, repo_id: str) -> Path:
    """Lay a model folder into a cache as the hub's library does: blobs, and links to them by commit."""
    storage = cache / f"models--{repo_id.replace('/', '--')}"
    snapshot = storage / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (storage / "blobs").mkdir()
    (storage / "refs").mkdir()
    (storage / "refs" / "main").write_text(COMMIT, encoding="utf-8")
    for path in model.iterdir():
        shutil.copy(path, storage / "blobs" / f"blob-of-{path.name}")
        (snapshot / path.name).symlink_to(Path("../../blobs") / f"blob-of-{path.name}")
    return snapshot


def offline(code: str, cache: Path) -> str:
    """Run code in a fresh process without a network: the hub's library reads its settings once, when imported."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(cache), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_a_cached_model_loads_offline_and_another_is_refused(tmp_path: Path) -> None:
    model = saved(tmp_path / "m")
    cached(tmp_path / "m", tmp_path / "cache", "user/tiny")
    code = (
        "from levt.policy.hub import resolve\n"
        "from levt.policy.folder import load_folder\n"
        "from levt.errors import ModelError\n"
        "print(repr(load_folder(resolve('user/tiny')).model.delete_head.sum().item()))\n"
        "try:\n    resolve('user/other')\n"
        "except ModelError as error:\n    print(error)\n"
    )
    out = offline(code, tmp_path / "cache")
    assert repr(model.delete_head.sum().item()) in out, out
    assert "user/other is not a folder here and could not be had from the hub" in out
    assert "hint: it is not in the cache: load it once with a connection and without HF_HUB_OFFLINE" in out


class FakeHub:
    """What the hub's library does, with folders in the place of a server."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def snapshot_download(self, repo_id: str, *, allow_patterns: list[str]) -> str:
        return str(cached_again(self.root / repo_id, self.root / "cache", allow_patterns))

    def create_repo(self, repo_id: str, **how: Any) -> str:
        assert how == {"private": True, "repo_type": "model", "exist_ok": True}
        (self.root / repo_id).mkdir(parents=True, exist_ok=True)
        return f"https://hub.example/{repo_id}"

    def upload_folder(self, *, repo_id: str, folder_path: Path, allow_patterns: list[str], **_: Any) -> None:
        for path in Path(folder_path).iterdir():
            if path.name in allow_patterns:
                shutil.copy(path, self.root / repo_id)


def cached_again(model: Path, cache: Path, names: list[str]) -> Path:
    shutil.rmtree(cache, ignore_errors=True)
    wanted = model.parent / "wanted"
    shutil.rmtree(wanted, ignore_errors=True)
    wanted.mkdir()
    for path in model.iterdir():
        if path.name in names:
            shutil.copy(path, wanted)
    return cached(wanted, cache, "user/tiny")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    made = FakeHub(tmp_path / "server")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", made.snapshot_download)
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: made)
    return made


def test_up_and_down_again(tmp_path: Path, fake: FakeHub) -> None:
    model = saved(tmp_path / "m", dtype="bfloat16")
    (tmp_path / "m" / "notes.txt").write_text("not for others", encoding="utf-8")
    assert hub.push_to_hub(tmp_path / "m", "user/tiny", private=True) == "https://hub.example/user/tiny"
    (fake.root / "user/tiny" / "pytorch_model.bin").write_bytes(b"a pickle that someone added")
    folder = hub.resolve("user/tiny")
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "README.md",
    }
    loaded = load_folder(folder)
    assert torch.equal(loaded.model.delete_head, model.delete_head.bfloat16().float())


def test_a_damaged_folder_is_not_uploaded(tmp_path: Path, fake: FakeHub) -> None:
    saved(tmp_path / "m")
    data = bytearray((tmp_path / "m" / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (tmp_path / "m" / "model.safetensors").write_bytes(data)
    with pytest.raises(ModelError, match="cannot be uploaded"):
        hub.push_to_hub(tmp_path / "m", "user/tiny", private=True)
    assert not fake.root.exists()


@pytest.mark.parametrize("repo_id", ["tiny", "a/b/c", "user/", "/x", "us er/x"])
def test_a_wrong_id_is_not_uploaded(tmp_path: Path, fake: FakeHub, repo_id: str) -> None:
    saved(tmp_path / "m")
    with pytest.raises(ModelError, match="has the form user/name"):
        hub.push_to_hub(tmp_path / "m", repo_id, private=True)


class Refusal(Exception):
    pass


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("GatedRepoError", "accept its terms"),
        ("RepositoryNotFoundError", "check the spelling"),
        ("RevisionNotFoundError", "not its branch main"),
        ("LocalEntryNotFoundError", "not in the cache"),
        ("HfHubHTTPError", "the hub refused"),
        ("ConnectTimeout", "check the connection"),
    ],
)
def test_refusals_have_hints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, words: str) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise type(name, (Refusal,), {})("401 Client Error.\n\nPages of advice")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(ModelError) as caught:
        hub.resolve("user/tiny")
    assert "could not be had from the hub: 401 Client Error." in caught.value.message
    assert "Pages" not in str(caught.value)
    assert words in str(caught.value.hint)
    api = type("Api", (), {"create_repo": refuse})
    monkeypatch.setattr(huggingface_hub, "HfApi", api)
    saved(tmp_path / "m")
    with pytest.raises(ModelError, match="could not be uploaded"):
        hub.push_to_hub(tmp_path / "m", "user/tiny")


def test_the_classes_of_refusals_exist() -> None:
    from huggingface_hub import errors

    for name in (
        "GatedRepoError",
        "RepositoryNotFoundError",
        "RevisionNotFoundError",
        "LocalEntryNotFoundError",
        "HfHubHTTPError",
        "OfflineModeIsEnabled",
    ):
        assert issubclass(getattr(errors, name), Exception)


def test_bundled_names_come_first_and_folders_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "BUNDLED", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    assert hub.bundled() == []
    saved(tmp_path / "models" / "levt-en-de")
    saved(tmp_path / "levt-en-de")
    saved(tmp_path / "user" / "own")
    assert hub.bundled() == ["levt-en-de"]
    assert hub.resolve("levt-en-de") == tmp_path / "models" / "levt-en-de"
    assert hub.resolve("./levt-en-de").resolve() == tmp_path / "levt-en-de"
    assert hub.resolve(tmp_path / "levt-en-de") == tmp_path / "levt-en-de"
    assert hub.resolve("user/own").resolve() == tmp_path / "user" / "own"


def test_unknown_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "BUNDLED", tmp_path / "models")
    with pytest.raises(ModelError, match="no model is bundled"):
        hub.resolve("levt-en-ed")
    saved(tmp_path / "models" / "levt-en-de")
    with pytest.raises(ModelError, match="did you mean 'levt-en-de'"):
        hub.resolve("levt-en-ed")
    (tmp_path / "checkpoint.pt").write_bytes(b"")
    with pytest.raises(ModelError, match="is a file, and a model is a folder"):
        hub.resolve(tmp_path / "checkpoint.pt")
    with pytest.raises(ModelError, match="there is no model"):
        hub.resolve("/nowhere/at/all")


def test_the_hub_is_not_imported_for_folders(tmp_path: Path) -> None:
    saved(tmp_path / "m")
    code = (
        "import sys\nfrom levt.policy.hub import resolve\nfrom levt.policy.folder import load_folder\n"
        f"load_folder(resolve({str(tmp_path / 'm')!r}))\nprint('huggingface_hub' in sys.modules)\n"
    )
    assert offline(code, tmp_path).strip() == "False"


def test_a_path_is_a_folder_and_a_name_may_be_bundled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "BUNDLED", tmp_path / "models")
    (tmp_path / "models" / "levt-xx-yy").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert hub.resolve("levt-xx-yy") == tmp_path / "models" / "levt-xx-yy"
    for path in ("levt-xx-yy", "user/other"):
        with pytest.raises(ModelError) as caught:
            hub.resolve(Path(path))
        assert str(caught.value) == (
            f"there is no folder {path}\n"
            "hint: a path is a folder; a bundled model (levt-xx-yy) and an id of the hub are text"
        )
    with pytest.raises(ModelError, match="did you mean 'levt-xx-yy'"):
        hub.resolve("./levt-xx-yy")
    (tmp_path / "levt-xx-yy").mkdir()
    assert hub.resolve(Path("levt-xx-yy")) == Path("levt-xx-yy")


NAMES = """
import os, pathlib
import levt
class Folder:
    def __fspath__(self):
        return "/nowhere/at/all"
names = {
    "None": None, "3": 3, "b": b"levt-en-de", "list": ["levt-en-de"], "empty": "", "long": "x" * 5000,
    "long path": pathlib.Path("x" * 300), "home": "~nobody.of.this.name/x", "own": Folder(),
}
for what, name in names.items():
    try:
        levt.load(name)
    except levt.LevtError as error:
        print(what, "|", error.message[:100], "|", error.hint)
for setting in ({"device": 3}, {"device": b"cpu"}, {"budget": 3}):
    try:
        levt.load("levt-en-de", **setting)
    except levt.LevtError as error:
        print(error.message, "|", error.hint)
"""


def test_what_is_no_name_is_refused_with_a_hint(tmp_path: Path) -> None:
    """In a process of its own, where nothing looks at types but ours."""
    lines = offline(NAMES, tmp_path).splitlines()
    found = dict(line.split(" | ", 1) for line in lines[:9])
    assert len(lines) == 12, lines
    for what, told in (("None", "None (NoneType)"), ("3", "3 (int)"), ("b", "b'levt-en-de'"), ("list", "[")):
        assert found[what].startswith(f"the name of a model must be text or a path, got {told}")
        assert found[what].endswith("as in levt.load('levt-en-de')")
    assert found["empty"].startswith("the name of a model is empty")
    assert found["long"].startswith("there is no model folder xxx")
    assert found["long path"].startswith("there is no model folder xxx")
    assert "nobody here has the home" in found["home"]
    assert found["own"].startswith("there is no folder /nowhere/at/all")
    assert lines[9:] == [
        "device must be cpu, cuda or cuda:N as text, got 3 | leave it out for a GPU where there is one",
        "device must be cpu, cuda or cuda:N as text, got b'cpu' | leave it out for a GPU where there is one",
        "budget must be a Budget, got 3 | levt.Budget(rows=…), or leave it out",
    ]
