"""From fairseq's settings to ours: which flags of its Levenshtein Transformer mean what. Knows no tensor.

Flags that change nothing after training (LayerDrop, quantisation noise, the loss) are passed over. Flags
that add weights of another shape show in the weights, where every unknown tensor is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from levt.convert.fairseq_checkpoint import Settings
from levt.errors import ConfigError, ModelError, raise_all
from levt.policy.config import LevTConfig, Sharing
from levt.policy.read_config import config_from_json

DEFAULTS: dict[str, Any] = {
    "encoder_embed_dim": 512,
    "encoder_ffn_embed_dim": 2048,
    "encoder_layers": 6,
    "encoder_attention_heads": 8,
    "encoder_normalize_before": False,
    "encoder_learned_pos": False,
    "decoder_layers": 6,
    "decoder_attention_heads": 8,
    "decoder_normalize_before": False,
    "decoder_learned_pos": False,
    "no_decoder_final_norm": False,
    "no_token_positional_embeddings": False,
    "max_source_positions": 1024,
    "max_target_positions": 1024,
    "share_all_embeddings": False,
    "share_decoder_input_output_embed": False,
    "no_scale_embedding": False,
    "layernorm_embedding": False,
    "activation_fn": "relu",
    "dropout": 0.1,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "early_exit": "6,6,6",
    "no_share_discriminator": False,
    "no_share_maskpredictor": False,
    "share_discriminator_maskpredictor": False,
    "cross_self_attention": False,
    "adaptive_input": False,
    "adaptive_softmax_cutoff": None,
    "encoder_layers_to_keep": None,
    "decoder_layers_to_keep": None,
}
"""What fairseq assumes where a checkpoint (an old one) does not say."""

ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_fast": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "swish": "silu",
    "tanh": "tanh",
}

MOST = 1 << 20
"""Far above the sizes and depths of any model; what is larger is damage, or meant to fill the memory."""
ONLY = "what can be converted are Levenshtein Transformers as fairseq itself writes them"


@dataclass(frozen=True)
class Towers:
    """Where the layers of each policy lie in a checkpoint, and how many of them it runs."""

    sharing: Sharing
    places: Mapping[str, str]
    """Policy to fairseq's name of its layers."""
    exits: Mapping[str, int]
    """Policy to depth."""
    stored: Mapping[str, int]
    """fairseq's name of layers to their number, run or not."""


def model_settings(data: Any) -> dict[str, Any]:
    """The settings of the model in a checkpoint, old (``args``) or new (``cfg.model``), over the defaults."""
    if not isinstance(data, dict) or "model" not in data:
        raise ModelError("the checkpoint has no 'model'", hint="is it a checkpoint of fairseq?")
    found = data.get("args")
    if found is None:
        config = data.get("cfg")
        config = config.values if isinstance(config, Settings) else config
        found = config.get("model") if isinstance(config, dict) else None
    values = found.values if isinstance(found, Settings) else found
    if not isinstance(values, dict):
        raise ModelError(
            "the checkpoint has no settings (neither 'args' nor 'cfg')", hint="is it a checkpoint of fairseq?"
        )
    settings = {**DEFAULTS, **values}
    settings.setdefault("decoder_embed_dim", settings["encoder_embed_dim"])
    settings.setdefault("decoder_ffn_embed_dim", settings["encoder_ffn_embed_dim"])
    wrong = [
        f"{name} must be like {default!r}, got {settings[name]!r}"
        for name, default in DEFAULTS.items()
        if default is not None
        and type(settings[name]) not in (type(default), *([int] if type(default) is float else []))
    ]
    wrong += [
        f"{name} must be at most {MOST}, got {settings[name]}"
        for name in (*DEFAULTS, "decoder_embed_dim", "decoder_ffn_embed_dim")
        if isinstance(settings[name], int) and settings[name] > MOST
    ]
    raise_all(ModelError, "the checkpoint's settings", wrong, hint=ONLY)
    settings["activation_dropout"] = settings["activation_dropout"] or settings.get("relu_dropout") or 0.0
    # fairseq sets this itself, but an old checkpoint may have been written before it did.
    settings["share_decoder_input_output_embed"] |= settings["share_all_embeddings"]
    return settings


def towers(settings: Mapping[str, Any]) -> Towers:
    """Read the flags of weight sharing and early exit.

    ``--early-exit`` is the depth of delete, placeholder and token, in this order. A tower of its own has as
    many layers as its exit says, whatever the depth of the decoder.
    """
    try:
        delete, placeholder, token = depths = [int(depth) for depth in str(settings["early_exit"]).split(",")]
    except ValueError:
        depths = []
    if not depths or max(depths) > MOST:
        raise ModelError(f"early_exit must be three depths, got {settings['early_exit']!r}", hint=ONLY)
    own_delete, own_placeholder = settings["no_share_discriminator"], settings["no_share_maskpredictor"]
    together = settings["share_discriminator_maskpredictor"]
    if together and not own_delete:
        raise ModelError(
            "share_discriminator_maskpredictor needs no_share_discriminator, which is not set", hint=ONLY
        )
    stored = {"layers": settings["decoder_layers"]}
    if own_delete:
        stored["layers_del"] = delete
    if together:
        stored["layers_msk"] = delete
    elif own_placeholder:
        stored["layers_msk"] = placeholder
    places = {
        "delete": "layers_del" if own_delete else "layers",
        "placeholder": "layers_del" if together else "layers_msk" if own_placeholder else "layers",
        "token": "layers",
    }
    sharing: Sharing = (
        "plh+del"
        if together
        else "none"
        if own_delete and own_placeholder
        else "plh+tok"
        if own_delete
        else "tok+del"
        if own_placeholder
        else "all"
    )
    asked = {"delete": delete, "placeholder": placeholder, "token": token}
    exits = {policy: min(depth, stored[places[policy]]) for policy, depth in asked.items()}
    return Towers(sharing, places, exits, stored)


def our_config(
    settings: Mapping[str, Any], *, source_vocabulary: int, target_vocabulary: int, max_count: int
) -> LevTConfig:
    """The configuration of the same network; all that cannot be expressed is named in one error."""
    problems = [
        f"{flag} cannot be converted, got {settings[flag]!r}"
        for flag in (
            "cross_self_attention",
            "adaptive_input",
            "adaptive_softmax_cutoff",
            "encoder_layers_to_keep",
            "decoder_layers_to_keep",
        )
        if settings[flag]
    ]
    if settings["activation_fn"] not in ACTIVATIONS:
        problems.append(
            f"activation_fn must be one of {', '.join(ACTIVATIONS)}, got {settings['activation_fn']!r}"
        )
    raise_all(ModelError, "the checkpoint's settings", problems, hint=ONLY)
    stand = towers(settings)
    depth = max(stand.exits.values())
    by_exit = {f"{policy}_exit": None if at == depth else at for policy, at in stand.exits.items()}

    def positions(side: str) -> str:
        if settings["no_token_positional_embeddings"]:
            return "none"
        return "learned" if settings[f"{side}_learned_pos"] else "sinusoidal"

    def norm(side: str) -> str:
        return "pre" if settings[f"{side}_normalize_before"] else "post"

    decoder = {
        "width": settings["decoder_embed_dim"],
        "hidden": settings["decoder_ffn_embed_dim"],
        "heads": settings["decoder_attention_heads"],
        "positions": positions("decoder"),
        "norm": norm("decoder"),
        # The flag makes weights on both sides, but fairseq's decoder of this model never uses its own.
        "normalise_embedding": False,
    }
    encoder = {
        "width": settings["encoder_embed_dim"],
        "hidden": settings["encoder_ffn_embed_dim"],
        "heads": settings["encoder_attention_heads"],
        "positions": positions("encoder"),
        "norm": norm("encoder"),
        "normalise_embedding": settings["layernorm_embedding"],
    }
    apart = {f"encoder_{name}": value for name, value in encoder.items() if value != decoder[name]}
    saved = {
        "kind": LevTConfig.kind,
        "source_vocabulary": source_vocabulary,
        "target_vocabulary": target_vocabulary,
        "joint_embeddings": settings["share_all_embeddings"],
        "tie_output": settings["share_decoder_input_output_embed"],
        "max_length": min(settings["max_source_positions"], settings["max_target_positions"]),
        "dropout": settings["dropout"],
        "attention_dropout": settings["attention_dropout"],
        "activation_dropout": settings["activation_dropout"],
        "encoder_layers": settings["encoder_layers"],
        "decoder_layers": depth,
        "final_norm": not settings["no_decoder_final_norm"],
        "activation": ACTIVATIONS[settings["activation_fn"]],
        "scale_embedding": not settings["no_scale_embedding"],
        "sharing": stand.sharing,
        "max_count": max_count,
        **decoder,
        **apart,
        **by_exit,
    }
    try:
        config = config_from_json(saved)
    except ConfigError as error:
        raise ModelError(f"the checkpoint's settings: {error.message}", hint=ONLY) from error
    assert isinstance(config, LevTConfig)
    return config
