"""From a name to a model folder: bundled with the package, on this disk, or on the Hugging Face hub; and back up.

The hub's library is imported only when it is needed. It keeps its own cache and its own login, and obeys
``HF_HUB_OFFLINE``; only the files of a model folder are ever asked for.
"""

import difflib
import os
import re
from pathlib import Path

from levt.errors import ModelError, raise_all, reason
from levt.policy.folder import damaged_files, open_folder
from levt.policy.folder_config import DAMAGED, FILES

BUNDLED = Path(__file__).parents[1] / "models"
"""Where the models that come with the package lie."""
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def bundled() -> list[str]:
    """Names of the models that come with the package."""
    return sorted(path.name for path in BUNDLED.iterdir() if path.is_dir()) if BUNDLED.is_dir() else []


def resolve(name: str | os.PathLike[str]) -> Path:
    """The folder of a model: a bundled name, a folder, or an id of the hub (user/name), in this order.

    A ``Path`` and ``./name`` are always folders.
    """
    names = bundled()
    if isinstance(name, str) and name in names:
        return BUNDLED / name
    example = f"levt.load({names[0] if names else 'RUN/best'!r})"
    try:
        folder = Path(name)
    except TypeError:
        raise ModelError(
            f"the name of a model must be text or a path, got {name!r} ({type(name).__name__})",
            hint=f"a bundled model, a folder, or an id of the hub (user/name), as in {example}",
        ) from None
    if name == "":
        raise ModelError("the name of a model is empty", hint=f"name one, as in {example}; this folder is .")
    try:
        folder = folder.expanduser()
        if folder.is_dir():
            return folder
        is_file = folder.is_file()
    except OSError as error:
        raise ModelError(
            f"there is no model folder {_short(folder)}: {reason(error)}",
            hint="check the path, and who may read it",
        ) from error
    except RuntimeError as error:  # ~name of nobody here
        raise ModelError(
            f"there is no folder {name}: nobody here has the home {folder.parts[0]}",
            hint="write the path without ~",
        ) from error
    if is_file:
        raise ModelError(
            f"{name} is a file, and a model is a folder",
            hint="`levt convert fairseq` makes a folder from a checkpoint of fairseq",
        )
    if not isinstance(name, str):
        known = ", ".join(names) or "none here"
        hint = f"a path is a folder; a bundled model ({known}) and an id of the hub are text"
        raise ModelError(f"there is no folder {folder}", hint=hint)
    if HUB_ID.fullmatch(name):
        return download(name)
    near = difflib.get_close_matches(name, names, n=1)
    none = "no model is bundled with this installation: `levt train` makes one; give its folder, RUN/best"
    known = f"bundled models: {', '.join(names)}" if names else none
    raise ModelError(
        f"there is no model {name!r}: neither bundled, nor a folder, nor an id of the hub (user/name)",
        hint=f"did you mean {near[0]!r}?" if near else known,
    )


def download(repo_id: str) -> Path:
    """The folder of a model of the hub, in the hub's cache; downloaded where it is not there yet."""
    import huggingface_hub

    try:
        return Path(huggingface_hub.snapshot_download(repo_id, allow_patterns=list(FILES)))
    except Exception as error:  # its library passes on whatever its network layer raises
        raise ModelError(
            f"{repo_id} is not a folder here and could not be had from the hub: {_first_line(error)}",
            hint=_hint(error),
        ) from error


def push_to_hub(folder: str | Path, repo_id: str, *, private: bool = False) -> str:
    """Check a model folder, upload its files to the hub, and give back the address."""
    import huggingface_hub

    folder = Path(folder)
    if not HUB_ID.fullmatch(repo_id):
        raise ModelError(
            f"an id of the hub has the form user/name, got {repo_id!r}",
            hint="your name there, and one for the model",
        )
    damaged = damaged_files(folder, open_folder(folder))
    raise_all(
        ModelError,
        f"{folder} cannot be uploaded",
        [f"{name}: {problem}" for name, problem in damaged.items()],
        hint=DAMAGED,
    )
    api = huggingface_hub.HfApi()
    try:
        url = api.create_repo(repo_id, private=private, repo_type="model", exist_ok=True)
        api.upload_folder(
            repo_id=repo_id,
            folder_path=folder,
            repo_type="model",
            commit_message="Upload a levt model",
            allow_patterns=list(FILES),
        )
    except Exception as error:
        raise ModelError(
            f"{repo_id} could not be uploaded: {_first_line(error)}", hint=_hint(error)
        ) from error
    return str(url)


def _short(path: Path) -> str:
    """A path for a message, without the end of one that is endless."""
    text = str(path)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _first_line(error: Exception) -> str:
    """What went wrong, without the pages of advice that follow."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _hint(error: Exception) -> str:
    """What to do. The classes are compared by name: they have moved between versions of the hub's library."""
    names = {cls.__name__ for cls in type(error).__mro__}
    if "GatedRepoError" in names:
        return "the model asks for consent: accept its terms on its page, then log in with `hf auth login`"
    if "RevisionNotFoundError" in names:
        return "the model is there, but not its branch main: see its page"
    if "RepositoryNotFoundError" in names:
        return "check the spelling; a private model needs `hf auth login`"
    if names & {"LocalEntryNotFoundError", "OfflineModeIsEnabled"}:
        return "it is not in the cache: load it once with a connection and without HF_HUB_OFFLINE"
    if "HfHubHTTPError" in names:
        return "the hub refused; `hf auth login` if it wants to know who you are"
    return "check the connection, or copy the model here and give its folder"
