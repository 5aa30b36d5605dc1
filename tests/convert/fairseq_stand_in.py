"""A tiny stand-in for fairseq's Levenshtein Transformer: its names, its ids, its arithmetic, nothing shared with levt.

Written from the description of the architecture, one sequence at a time and without any fusion, so that it
checks the converter and the network together.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

PIECES = ["▁a", "▁dog", "▁cat", "run", "s", ".", "madeupword0000", "madeupword0001"]
SOURCE_PIECES = ["▁ein", "▁Hund", "▁läuft", ".", "!"]

BASE: dict[str, Any] = {
    "arch": "levenshtein_transformer",
    "encoder_embed_dim": 8,
    "encoder_ffn_embed_dim": 12,
    "encoder_layers": 2,
    "encoder_attention_heads": 2,
    "encoder_normalize_before": False,
    "encoder_learned_pos": True,
    "decoder_embed_dim": 8,
    "decoder_ffn_embed_dim": 12,
    "decoder_layers": 3,
    "decoder_attention_heads": 2,
    "decoder_normalize_before": False,
    "decoder_learned_pos": True,
    "decoder_output_dim": 8,
    "max_source_positions": 30,
    "max_target_positions": 30,
    "share_all_embeddings": True,
    "share_decoder_input_output_embed": True,
    "early_exit": "3,3,3",
    "no_share_discriminator": False,
    "no_share_maskpredictor": False,
    "share_discriminator_maskpredictor": False,
    "activation_fn": "relu",
    "no_scale_embedding": False,
    "layernorm_embedding": False,
    "no_token_positional_embeddings": False,
    "no_decoder_final_norm": False,
    "dropout": 0.1,
    "decoder_layerdrop": 0,
    "source_lang": "de",
    "target_lang": "en",
}

ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": F.gelu,
    "gelu_fast": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "gelu_accurate": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "swish": lambda x: x * torch.sigmoid(x),
    "tanh": torch.tanh,
}


class StandIn:
    """Random weights under fairseq's names, and what fairseq would compute with them."""

    def __init__(self, seed: int = 0, **changed: Any) -> None:
        self.settings = {**BASE, **changed}
        self.exits = [int(depth) for depth in self.settings["early_exit"].split(",")]
        self.random = torch.Generator().manual_seed(seed)
        self.joint = self.settings["share_all_embeddings"]
        self.source_pieces = PIECES if self.joint else SOURCE_PIECES
        self.state: dict[str, Tensor] = {}
        self._make()

    def _draw(self, *shape: int) -> Tensor:
        return torch.randn(shape, generator=self.random) * 0.3

    def _linear(self, name: str, inputs: int, outputs: int) -> None:
        self.state[f"{name}.weight"], self.state[f"{name}.bias"] = (
            self._draw(outputs, inputs),
            self._draw(outputs),
        )

    def _norm(self, name: str, width: int) -> None:
        self.state[f"{name}.weight"], self.state[f"{name}.bias"] = 1 + self._draw(width), self._draw(width)

    def _layer(self, name: str, side: str) -> None:
        d, hidden = self.settings[f"{side}_embed_dim"], self.settings[f"{side}_ffn_embed_dim"]
        for attention in ("self_attn", "encoder_attn") if side == "decoder" else ("self_attn",):
            memory = self.settings["encoder_embed_dim"] if attention == "encoder_attn" else d
            for part, inputs in (("q", d), ("k", memory), ("v", memory)):
                self._linear(f"{name}.{attention}.{part}_proj", inputs, d)
            self._linear(f"{name}.{attention}.out_proj", d, d)
            self._norm(f"{name}.{attention}_layer_norm", d)
        self._linear(f"{name}.fc1", d, hidden)
        self._linear(f"{name}.fc2", hidden, d)
        self._norm(f"{name}.final_layer_norm", d)

    def _make(self) -> None:
        s, state = self.settings, self.state
        for side, pieces in (("encoder", self.source_pieces), ("decoder", PIECES)):
            d = s[f"{side}_embed_dim"]
            state[f"{side}.version"] = torch.tensor([3.0])
            state[f"{side}.embed_tokens.weight"] = (
                state["encoder.embed_tokens.weight"]
                if side == "decoder" and self.joint
                else self._draw(len(pieces) + 4, d)
            )
            if not s["no_token_positional_embeddings"]:
                length = s["max_source_positions" if side == "encoder" else "max_target_positions"]
                if s[f"{side}_learned_pos"]:
                    state[f"{side}.embed_positions.weight"] = self._draw(length + 2, d)
                else:
                    state[f"{side}.embed_positions._float_tensor"] = torch.zeros(1)
            if s["layernorm_embedding"]:
                self._norm(f"{side}.layernorm_embedding", d)
            for i in range(s[f"{side}_layers"]):
                self._layer(f"{side}.layers.{i}", side)
            if s[f"{side}_normalize_before"] and not (side == "decoder" and s["no_decoder_final_norm"]):
                self._norm(f"{side}.layer_norm", d)
        out = s["decoder_output_dim"]
        if out != s["decoder_embed_dim"]:
            state["decoder.project_out_dim.weight"] = self._draw(out, s["decoder_embed_dim"])
        state["decoder.output_projection.weight"] = (
            state["decoder.embed_tokens.weight"]
            if s["share_decoder_input_output_embed"]
            else self._draw(len(PIECES) + 4, out)
        )
        state["decoder.embed_mask_ins.weight"] = self._draw(256, 2 * out)
        state["decoder.embed_word_del.weight"] = self._draw(2, out)
        if s["no_share_discriminator"]:
            for i in range(self.exits[0]):
                self._layer(f"decoder.layers_del.{i}", "decoder")
        if s["share_discriminator_maskpredictor"]:
            for name in [name for name in state if name.startswith("decoder.layers_del.")]:
                state[name.replace("layers_del", "layers_msk")] = state[name]
        elif s["no_share_maskpredictor"]:
            for i in range(self.exits[1]):
                self._layer(f"decoder.layers_msk.{i}", "decoder")

    def save(self, folder: Path, *, old: bool = False) -> tuple[Path, Path, Path | None]:
        """Write checkpoint and dictionaries as fairseq does; ``old`` as its first versions did."""
        folder.mkdir(exist_ok=True)
        settings = argparse.Namespace(**self.settings)
        where: dict[str, Any] = {"args": settings} if old else {"args": None, "cfg": {"model": settings}}
        checkpoint = folder / "checkpoint.pt"
        torch.save({**where, "model": self.state, "extra_state": {"epoch": 3}}, checkpoint)
        for name, pieces in (("dict.txt", PIECES), ("dict.source.txt", self.source_pieces)):
            (folder / name).write_text("".join(f"{piece} {9}\n" for piece in pieces), encoding="utf-8")
        return checkpoint, folder / "dict.txt", None if self.joint else folder / "dict.source.txt"

    def ids(self, pieces: list[str], vocabulary: list[str]) -> list[int]:
        """Ids as in fairseq, with boundaries; its placeholder is its unknown word."""
        inner = [3 if piece in ("<plh>", "<unk>") else vocabulary.index(piece) + 4 for piece in pieces]
        return [0, *inner, 2]

    def _affine(self, x: Tensor, name: str) -> Tensor:
        return x @ self.state[f"{name}.weight"].T + self.state[f"{name}.bias"]

    def _normalise(self, x: Tensor, name: str) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        return scaled * self.state[f"{name}.weight"] + self.state[f"{name}.bias"]

    def _attend(self, x: Tensor, memory: Tensor, name: str, heads: int) -> Tensor:
        q, k, v = (
            self._affine(z, f"{name}.{part}_proj").unflatten(-1, (heads, -1)).transpose(0, 1)
            for part, z in (("q", x), ("k", memory), ("v", memory))
        )
        weights = (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(-1)
        return self._affine((weights @ v).transpose(0, 1).flatten(1), f"{name}.out_proj")

    def _run(self, x: Tensor, memory: Tensor | None, name: str, side: str) -> Tensor:
        heads, pre = self.settings[f"{side}_attention_heads"], self.settings[f"{side}_normalize_before"]
        activation = ACTIVATIONS[self.settings["activation_fn"]]

        def around(x: Tensor, norm: str, inner: Any) -> Tensor:
            return x + inner(self._normalise(x, norm)) if pre else self._normalise(x + inner(x), norm)

        x = around(
            x, f"{name}.self_attn_layer_norm", lambda z: self._attend(z, z, f"{name}.self_attn", heads)
        )
        if memory is not None:
            x = around(
                x,
                f"{name}.encoder_attn_layer_norm",
                lambda z: self._attend(z, memory, f"{name}.encoder_attn", heads),
            )
        return around(
            x,
            f"{name}.final_layer_norm",
            lambda z: self._affine(activation(self._affine(z, f"{name}.fc1")), f"{name}.fc2"),
        )

    def _embed(self, ids: list[int], side: str) -> Tensor:
        s, d = self.settings, self.settings[f"{side}_embed_dim"]
        x = self.state[f"{side}.embed_tokens.weight"][ids] * (1 if s["no_scale_embedding"] else math.sqrt(d))
        if not s["no_token_positional_embeddings"]:
            places = range(2, len(ids) + 2)
            if s[f"{side}_learned_pos"]:
                x = x + self.state[f"{side}.embed_positions.weight"][list(places)]
            else:
                rates = [10000 ** (-i / (d // 2 - 1)) for i in range(d // 2)]
                rows = [
                    [math.sin(p * rate) for rate in rates] + [math.cos(p * rate) for rate in rates]
                    for p in places
                ]
                x = x + torch.tensor(rows)
        # In fairseq the decoder of this model passes over its own normalisation of embeddings.
        return (
            self._normalise(x, "encoder.layernorm_embedding")
            if s["layernorm_embedding"] and side == "encoder"
            else x
        )

    def encode(self, source: list[str]) -> Tensor:
        """States of the encoder."""
        x = self._embed(self.ids(source, self.source_pieces), "encoder")
        for i in range(self.settings["encoder_layers"]):
            x = self._run(x, None, f"encoder.layers.{i}", "encoder")
        return self._normalise(x, "encoder.layer_norm") if self.settings["encoder_normalize_before"] else x

    def _decode(self, memory: Tensor, state: list[str], layers: str, depth: int) -> Tensor:
        x = self._embed(self.ids(state, PIECES), "decoder")
        i = 0
        while i < depth and f"decoder.{layers}.{i}.fc1.weight" in self.state:
            x = self._run(x, memory, f"decoder.{layers}.{i}", "decoder")
            i += 1
        if "decoder.layer_norm.weight" in self.state:
            x = self._normalise(x, "decoder.layer_norm")
        project = self.state.get("decoder.project_out_dim.weight")
        return x if project is None else x @ project.T

    def policies(self, source: list[str], state: list[str], open_state: list[str]) -> dict[str, Tensor]:
        """What a recorded run of fairseq holds for a case."""
        memory = self.encode(source)
        own = {
            place for place in ("layers_del", "layers_msk") if f"decoder.{place}.0.fc1.weight" in self.state
        }
        delete, placeholder = ("layers_del", "layers_msk")
        h = self._decode(memory, state, delete if delete in own else "layers", self.exits[0])
        found = {
            "encoder": memory,
            "delete": (h @ self.state["decoder.embed_word_del.weight"].T).log_softmax(-1),
        }
        h = self._decode(memory, state, placeholder if placeholder in own else "layers", self.exits[1])
        pairs = torch.cat([h[:-1], h[1:]], -1)
        found["placeholder"] = (pairs @ self.state["decoder.embed_mask_ins.weight"].T).log_softmax(-1)
        h = self._decode(memory, open_state, "layers", self.exits[2])
        h = h[[i + 1 for i, piece in enumerate(open_state) if piece == "<plh>"]]
        found["token"] = (h @ self.state["decoder.output_projection.weight"].T).log_softmax(-1)
        return found
