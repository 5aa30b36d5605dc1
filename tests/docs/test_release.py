"""What is released: a wheel and an sdist that install into an empty environment and work there."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from page_shell import ROOT

import levt

pytest.importorskip(
    "hatchling", reason="the build backend is a development dependency: pip install hatchling"
)
GOLDEN = ROOT / "tests" / "golden" / "v1"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def the(dist: Path, pattern: str) -> Path:
    (found,) = dist.glob(pattern)
    return found


def environment(folder: Path, python: str, wheel: Path, *, dependencies: bool) -> Path:
    """An empty environment with the wheel alone; its dependencies are lent by the one of the tests."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
    found = folder / "bin" / "python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(found),
        "install",
        "--no-deps",
        "--no-index",
        "--quiet",
    ]
    subprocess.run([*install, "--no-compile", "--quiet", str(wheel)], check=True)
    if dependencies:
        # A line of a .pth file adds the folder, but not the .pth files in it: levt itself is not lent.
        (site,) = (folder / "lib").glob("python*/site-packages")
        (site / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return found


def run(*command: str | Path, folder: Path) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env={**environ, "OMP_NUM_THREADS": "1"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="an unpacked sdist: what belongs to it, a clone alone knows"
)
def test_the_wheel_holds_the_package_its_data_and_its_licence(dist: Path) -> None:
    wheel = the(dist, "*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {name for name in names if name.startswith("levt/")}
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    there = {path for path in tracked.stdout.splitlines() if (ROOT / path).is_file()}
    assert package == {path.removeprefix("src/") for path in there}
    assert {"levt/py.typed", "levt/__init__.pyi", "levt/edits/render_html.css"} <= package
    assert "levt/serving/editor/index.html" in package
    about = f"levt-{levt.__version__}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"levt", about}
    assert {f"{about}/licenses/LICENSE", f"{about}/licenses/NOTICE"} <= names
    size = wheel.stat().st_size / 1e6
    assert 25 < size < 40, (
        f"the bundled model is nearly all of it; CONTRIBUTING.md names the size, here {size:.1f} MB"
    )


def test_the_sdist_can_be_built_from_and_tested(dist: Path) -> None:
    archive = the(dist, "*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    needed = {
        "LICENSE",
        "NOTICE",
        "README.md",
        "SECURITY.md",
        "CITATION.cff",
        "pyproject.toml",
        "mkdocs.yml",
        "PKG-INFO",
    }
    assert needed <= names
    assert "tests/conftest.py" in names
    assert not [
        name for name in names if name.endswith(".pyc") or name.startswith(("runs/", ".carry", ".venv"))
    ]
    assert 25 < archive.stat().st_size / 1e6 < 45


def test_the_wheel_built_from_the_sdist_is_the_one_built_from_the_tree(dist: Path, tmp_path: Path) -> None:
    """As ``pip install levt-….tar.gz`` does, in a folder that is no clone."""
    with tarfile.open(the(dist, "*.tar.gz")) as opened:
        opened.extractall(tmp_path, filter="data")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "again")]
    subprocess.run(command, cwd=the(tmp_path, "levt-*"), check=True, capture_output=True)
    ours, theirs = (
        {one.filename: one.CRC for one in zipfile.ZipFile(the(folder, "*.whl")).infolist()}
        for folder in (dist, tmp_path / "again")
    )
    assert theirs == ours


def test_the_wheel_works_in_an_empty_environment(dist: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "venv", sys.executable, the(dist, "*.whl"), dependencies=True)
    where = run(python, "-c", "import levt; print(levt.__file__)", folder=tmp_path)
    assert where.startswith(str(tmp_path))
    command = python.with_name("levt")
    assert run(command, "--version", folder=tmp_path) == f"levt {levt.__version__}\n"
    run(command, "show", "A dog runs.", "--model", GOLDEN, "--html", "edits.html", folder=tmp_path)
    assert "<style>" in (tmp_path / "edits.html").read_text(encoding="utf-8")


def an_interpreter(version: str) -> str | None:
    """A Python of this version that runs; a shim of pyenv is on the PATH also where it leads to none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [
        shutil.which(f"python{version}"),
        *sorted(map(str, pyenv.glob(f"{version}.*/bin/python{version}"))),
    ]
    for python in filter(None, found):
        if subprocess.run([python, "--version"], check=False, capture_output=True).returncode == 0:
            return python
    return None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_module_is_good_python_there_and_the_version_needs_no_dependency(
    dist: Path, tmp_path: Path, version: str
) -> None:
    python = an_interpreter(version)
    if python is None:
        pytest.skip(f"there is no python{version} here")
    found = environment(tmp_path / "venv", python, the(dist, "*.whl"), dependencies=False)
    assert run(found.with_name("levt"), "--version", folder=tmp_path) == f"levt {levt.__version__}\n"
    package = next((tmp_path / "venv" / "lib").glob("python*/site-packages/levt"))
    run(found, "-m", "compileall", "-q", package, folder=tmp_path)


def test_the_notice_names_what_the_card_of_the_bundled_model_names() -> None:
    from levt.recipes.bundled_card import DATA

    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    lines = [corpus.replace(" English–", ", English-") for corpus in DATA]
    assert [line for line in lines if f"  {line}\n" not in notice] == []


def test_the_citation_and_the_metadata_name_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {levt.__version__}\n" in citation
    assert f'\nversion = "{levt.__version__}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
