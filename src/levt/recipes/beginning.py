"""The weights a training begins with: those of a model folder, of its own kind or of an autoregressive teacher."""

from pathlib import Path

from torch import nn

from levt.errors import ConfigError, ModelError, raise_all
from levt.policy.autoregressive import Autoregressive
from levt.policy.build import build
from levt.policy.config import ModelConfig
from levt.policy.folder import Tokenizers, load_folder
from levt.policy.inherit import FREE, inherit
from levt.policy.levt import LevT


def loaded(folder: Path, config: ModelConfig, tokenizers: Tokenizers) -> nn.Module:
    """A network that begins as the one in a folder.

    It must be what the experiment describes, save for what training alone sees; or be autoregressive where a LevT of
    the same sizes is described, which then begins with what it knows.
    """
    found = load_folder(folder)
    if found.tokenizers.target != tokenizers.target or found.tokenizers.source != tokenizers.source:
        raise ModelError(
            f"{folder} has another vocabulary than the corpus",
            hint=f"prepare the corpus with --tokenizer {folder / 'tokenizer.json'}",
        )
    model = build(config)
    if isinstance(model, LevT) and type(found.model) is Autoregressive:
        inherit(model, found.model)
        return model
    if found.config.model.kind != config.kind:
        raise ConfigError(
            f"{folder} is a model of kind {found.config.model.kind}, this is one of kind {config.kind}",
            hint="a recipe of its kind; only a LevT may begin as an autoregressive model",
        )
    was, wanted = found.config.model.to_json(), config.to_json()
    other = sorted(k for k in was.keys() | wanted.keys() if k not in FREE and was.get(k) != wanted.get(k))
    problems = [f"{key} is {was.get(key)!r} there and {wanted.get(key)!r} here" for key in other]
    raise_all(ConfigError, f"{folder} is another network", problems, hint="set --model.… as it was trained")
    model.load_state_dict(found.model.state_dict())
    return model
