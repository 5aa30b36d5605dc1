"""Where engines keep what they have built on this machine. Knows not what that is."""

import os
from pathlib import Path

from levt.errors import ConfigError


def cache_folder(name: str) -> Path:
    """The folder of that name in the cache of the user; it need not be there yet."""
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "levt" / name
    except RuntimeError as error:
        raise ConfigError(
            f"there is no cache for what the engine needs: {error}",
            hint="XDG_CACHE_HOME says where it is to be",
        ) from error
