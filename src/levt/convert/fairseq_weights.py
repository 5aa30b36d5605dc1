"""From fairseq's tensors to ours, name by name. Each tensor of a checkpoint is used, known to be idle, or refused."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from levt.convert.fairseq_checkpoint import Checkpoint, TensorRef
from levt.convert.fairseq_dictionary import rows_in_our_order
from levt.convert.fairseq_settings import ONLY, Towers
from levt.errors import ModelError, raise_all
from levt.policy.config import LevTConfig

HEADS = ("decoder.embed_word_del.weight", "decoder.embed_mask_ins.weight")
"""The heads that make a model a Levenshtein Transformer: delete, placeholder."""
OLD_NORMS = {
    "encoder": {"0": "self_attn_layer_norm", "1": "final_layer_norm"},
    "decoder": {"0": "self_attn_layer_norm", "1": "encoder_attn_layer_norm", "2": "final_layer_norm"},
}


class Tensors:
    """The tensors of a checkpoint by fairseq's present names, with a record of what was asked for."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint
        model = checkpoint.data["model"]
        self.refs: dict[str, Any] = upgraded(model) if isinstance(model, dict) else {}
        self.asked: set[str] = set()
        self.problems: list[str] = [
            f"{name} is not a tensor" for name, ref in self.refs.items() if not isinstance(ref, TensorRef)
        ]
        missing = [name for name in HEADS if name not in self.refs]
        if missing:
            raise ModelError(
                f"the checkpoint is not a Levenshtein Transformer: {' and '.join(missing)} missing",
                hint="only fairseq's levenshtein_transformer can be converted",
            )

    def rows(self, name: str) -> int:
        """Number of rows of a tensor, 0 where there is none."""
        ref = self.refs.get(name)
        return ref.shape[0] if isinstance(ref, TensorRef) and ref.shape else 0

    def take(self, name: str, *shape: int) -> Tensor:
        """A tensor that must be there in this shape; zeros, and a problem noted, where it is not."""
        self.asked.add(name)
        ref = self.refs.get(name)
        if not isinstance(ref, TensorRef):
            self.problems.append(f"{name} is missing")
            return torch.zeros(shape)
        if ref.shape != shape:
            self.problems.append(f"{name} must have the shape {shape}, has {ref.shape}")
            return torch.zeros(shape)
        return self.checkpoint.tensor(ref).float()

    def tied(self, one: str, other: str) -> None:
        """Note a problem where two tensors that the settings tie are not the same."""
        self.asked |= {one, other}
        first, second = self.refs.get(one), self.refs.get(other)
        if not isinstance(first, TensorRef) or not isinstance(second, TensorRef) or first == second:
            return
        if first.shape != second.shape or not torch.equal(
            self.checkpoint.tensor(first), self.checkpoint.tensor(second)
        ):
            self.problems.append(f"{one} and {other} should be one tensor, but differ")

    def idle(self, *prefixes: str) -> None:
        """Note tensors that fairseq stores and never uses."""
        self.asked |= {name for name in self.refs if name.startswith(prefixes)}

    def finish(self) -> None:
        """Raise everything that was wrong, unknown tensors included."""
        unknown = [name for name in self.refs if name not in self.asked]
        problems = [*self.problems, *(f"{name} is not known" for name in unknown)]
        rest = [f"and {len(problems) - 30} more"] if len(problems) > 30 else []
        raise_all(ModelError, f"the weights of {self.checkpoint.path}", problems[:30] + rest, hint=ONLY)


def upgraded(model: Mapping[str, Any]) -> dict[str, Any]:
    """Old names as present ones: numbered norms, and an output apart that was called embed_out."""
    found: dict[str, Any] = {}
    for name, ref in model.items():
        parts = str(name).split(".")
        if len(parts) == 6 and parts[3] == "layer_norms" and parts[4] in OLD_NORMS.get(parts[0], {}):
            parts[3:5] = [OLD_NORMS[parts[0]][parts[4]]]
        found[".".join(parts)] = ref
    if "decoder.embed_out" in found:
        found["decoder.output_projection.weight"] = found.pop("decoder.embed_out")
    return found


def our_weights(
    tensors: Tensors, config: LevTConfig, stand: Towers, pieces: tuple[int, int]
) -> dict[str, Tensor]:
    """The state of our network; ``pieces`` are the sizes of the two dictionaries, source and target."""
    d, c = config.width, int(config.of_encoder("width"))
    our: dict[str, Tensor] = {}

    def table(name: str, count: int, width: int) -> Tensor:
        return tensors.take(name, count + 4, width)[rows_in_our_order(count)]

    source, target = pieces
    our["target_tokens.weight"] = table("decoder.embed_tokens.weight", target, d)
    if config.joint_embeddings:
        tensors.tied("decoder.embed_tokens.weight", "encoder.embed_tokens.weight")
    else:
        our["source_tokens.weight"] = table("encoder.embed_tokens.weight", source, c)

    # A bottleneck after the decoder is a product with what reads it, so it needs no layer of its own.
    narrow = tensors.rows("decoder.project_out_dim.weight")
    project = tensors.take("decoder.project_out_dim.weight", narrow, d) if narrow else torch.eye(d)
    out = project.shape[0]
    if config.tie_output:
        tensors.tied("decoder.embed_tokens.weight", "decoder.output_projection.weight")
        if narrow:
            tensors.problems.append("decoder.project_out_dim.weight cannot stand before a tied output")
    else:
        our["output.weight"] = table("decoder.output_projection.weight", target, out) @ project
    k = config.max_count + 1
    our["delete_head"] = tensors.take(HEADS[0], 2, out) @ project
    our["placeholder_head"] = (tensors.take(HEADS[1], k, 2 * out).view(k, 2, out) @ project).reshape(k, 2 * d)

    for side, width, prefix in (("encoder", c, "encoder.embed"), ("decoder", d, "embed")):
        kind = config.of_encoder("positions") if side == "encoder" else config.positions
        name = f"{side}.embed_positions"
        if kind == "learned":
            # fairseq counts positions from the number of its <pad> plus one, so its first two rows are idle.
            stored = tensors.take(
                f"{name}.weight", max(tensors.rows(f"{name}.weight"), config.max_length + 2), width
            )
            our[f"{prefix}.positions.weight"] = stored[2 : config.max_length + 2]
        else:
            tensors.idle(f"{name}._float_tensor", f"{name}.weights")
    for side in ("encoder", "decoder"):
        tensors.idle(f"{side}.version")
        if tensors.rows(f"{side}.version") and tensors.take(f"{side}.version", 1).item() < 3:
            tensors.problems.append(f"{side}.version is older than 3, before the Levenshtein Transformer")
    if config.of_encoder("normalise_embedding"):
        our |= copied(tensors, "encoder.embed.norm", "encoder.layernorm_embedding", c)
    tensors.idle("decoder.layernorm_embedding.")

    hidden = int(config.of_encoder("hidden"))
    for i in range(config.encoder_layers):
        our |= block(tensors, f"encoder.blocks.{i}", f"encoder.layers.{i}", c, hidden)
    if config.of_encoder("norm") == "pre":
        our |= copied(tensors, "encoder.norm", "encoder.layer_norm", c)
    for group, depth in config.depths.items():
        ours, theirs = f"decoders.{'_'.join(group)}", f"decoder.{stand.places[group[0]]}"
        memory_weight, memory_bias = [], []
        for i in range(depth):
            layer = f"{theirs}.{i}"
            our |= block(tensors, f"{ours}.blocks.{i}", layer, d, config.hidden)
            our |= cross(tensors, f"{ours}.blocks.{i}", layer, d)
            keys, values = projections(tensors, f"{layer}.encoder_attn", "kv", d, c)
            memory_weight += [keys[0], values[0]]
            memory_bias += [keys[1], values[1]]
        our[f"{ours}.memory.weight"] = torch.cat(memory_weight)
        our[f"{ours}.memory.bias"] = torch.cat(memory_bias)
        if config.norm == "pre" and config.final_norm:
            our |= copied(tensors, f"{ours}.norm", "decoder.layer_norm", d)
    known(tensors, stand)
    return our


def known(tensors: Tensors, stand: Towers) -> None:
    """Layers above the last exit are idle; a tower that two policies share is stored under both names."""
    tensors.idle(*(f"decoder.{place}.{i}." for place, count in stand.stored.items() for i in range(count)))
    if stand.sharing == "plh+del":
        for name in [name for name in tensors.refs if name.startswith("decoder.layers_msk.")]:
            tensors.tied(name, name.replace("layers_msk", "layers_del"))


def copied(tensors: Tensors, ours: str, theirs: str, width: int) -> dict[str, Tensor]:
    """A normalisation."""
    return {f"{ours}.{part}": tensors.take(f"{theirs}.{part}", width) for part in ("weight", "bias")}


def linear(tensors: Tensors, ours: str, theirs: str, inputs: int, outputs: int) -> dict[str, Tensor]:
    """A linear map."""
    return {
        f"{ours}.weight": tensors.take(f"{theirs}.weight", outputs, inputs),
        f"{ours}.bias": tensors.take(f"{theirs}.bias", outputs),
    }


def projections(
    tensors: Tensors, theirs: str, which: str, d: int, inputs: int
) -> list[tuple[Tensor, Tensor]]:
    """Weight and bias of the projections named by letters, from maps apart or, in old files, stacked."""
    stacked = f"{theirs}.in_proj_weight"
    if stacked in tensors.refs:
        weight = dict(zip("qkv", tensors.take(stacked, 3 * d, inputs).chunk(3), strict=True))
        bias = dict(zip("qkv", tensors.take(f"{theirs}.in_proj_bias", 3 * d).chunk(3), strict=True))
        return [(weight[letter], bias[letter]) for letter in which]
    return [
        (tensors.take(f"{theirs}.{x}_proj.weight", d, inputs), tensors.take(f"{theirs}.{x}_proj.bias", d))
        for x in which
    ]


def block(tensors: Tensors, ours: str, theirs: str, d: int, hidden: int) -> dict[str, Tensor]:
    """Self-attention and feed-forward of a block, with their normalisations."""
    parts = projections(tensors, f"{theirs}.self_attn", "qkv", d, d)
    return {
        f"{ours}.self_attention.qkv.weight": torch.cat([weight for weight, _ in parts]),
        f"{ours}.self_attention.qkv.bias": torch.cat([bias for _, bias in parts]),
        **linear(tensors, f"{ours}.self_attention.out", f"{theirs}.self_attn.out_proj", d, d),
        **copied(tensors, f"{ours}.self_norm", f"{theirs}.self_attn_layer_norm", d),
        **linear(tensors, f"{ours}.feed_forward.into", f"{theirs}.fc1", d, hidden),
        **linear(tensors, f"{ours}.feed_forward.out", f"{theirs}.fc2", hidden, d),
        **copied(tensors, f"{ours}.feed_norm", f"{theirs}.final_layer_norm", d),
    }


def cross(tensors: Tensors, ours: str, theirs: str, d: int) -> dict[str, Tensor]:
    """Cross-attention of a block, but for the keys and values, which the tower makes for all blocks at once."""
    ((weight, bias),) = projections(tensors, f"{theirs}.encoder_attn", "q", d, d)
    return {
        f"{ours}.cross_attention.query.weight": weight,
        f"{ours}.cross_attention.query.bias": bias,
        **linear(tensors, f"{ours}.cross_attention.out", f"{theirs}.encoder_attn.out_proj", d, d),
        **copied(tensors, f"{ours}.cross_norm", f"{theirs}.encoder_attn_layer_norm", d),
    }
