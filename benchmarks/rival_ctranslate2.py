"""The same autoregressive weights in CTranslate2: filled into its specification in memory. No test of ours needs it."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from levt.policy.autoregressive import Autoregressive
from levt.policy.blocks import Block
from levt.text.specials import BOS, EOS, PAD, PLH, SPECIALS


def fastest_instructions() -> None:
    """Let CTranslate2 use AVX-512 where there is one: by itself it does so on processors of one maker only."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return
    if "avx512bw" in flags:
        os.environ.setdefault("CT2_FORCE_CPU_ISA", "AVX512")


def names(vocabulary: int) -> list[str]:
    """Tokens are numbers, but for the special ones."""
    return [*SPECIALS, *(str(i) for i in range(len(SPECIALS), vocabulary))]


class Rival:
    """A translator of CTranslate2 with our weights."""

    def __init__(self, network: Autoregressive, compute: str, threads: int) -> None:
        fastest_instructions()
        import ctranslate2

        self.names = names(network.config.target_vocabulary)
        self.numbers = {name: i for i, name in enumerate(self.names)}
        with tempfile.TemporaryDirectory() as folder:
            converter(network, self.names).convert(
                folder, quantization=None if compute == "float32" else compute, force=True
            )
            self.translator = ctranslate2.Translator(
                folder, device="cpu", compute_type=compute, intra_threads=threads, inter_threads=1
            )

    def translate(
        self, sources: Sequence[Sequence[int]], *, beam: int, steps: int, forced: bool = False
    ) -> list[tuple[int, ...]]:
        """Outputs without boundaries, of at most so many steps (the end counted); ``forced``: of exactly so many."""
        rows = [[self.names[t] for t in (BOS, *source, EOS)] for source in sources]
        never = [[self.names[t]] for t in ((PAD, BOS, PLH, EOS) if forced else (PAD, BOS, PLH))]
        results = self.translator.translate_batch(
            rows,
            beam_size=beam,
            max_decoding_length=steps,
            disable_unk=True,
            suppress_sequences=never,
            max_batch_size=len(rows),
        )
        return [tuple(self.numbers[t] for t in result.hypotheses[0]) for result in results]


def converter(network: Autoregressive, vocabulary: list[str]) -> Any:
    """CTranslate2's converter of a network that is already in memory."""
    from ctranslate2.converters.converter import Converter
    from ctranslate2.specs import TransformerSpec, common_spec

    config = network.config
    assert config.activation == "relu"
    assert config.positions == "sinusoidal"

    def numbers(tensor: Tensor | None) -> Any:
        assert tensor is not None
        # A copy: quantising works in place, and the network is to be converted again.
        return tensor.detach().float().cpu().numpy().copy()

    def linear(spec: Any, weight: Any, bias: Any) -> None:
        spec.weight, spec.bias = numbers(weight), numbers(bias)

    def norm(spec: Any, module: Any) -> None:
        spec.gamma, spec.beta = numbers(module.weight), numbers(module.bias)

    def block(spec: Any, ours: Block) -> None:
        attention = ours.self_attention
        linear(spec.self_attention.linear[0], attention.qkv.weight, attention.qkv.bias)
        linear(spec.self_attention.linear[1], attention.out.weight, attention.out.bias)
        norm(spec.self_attention.layer_norm, ours.self_norm)
        linear(spec.ffn.linear_0, ours.feed_forward.into.weight, ours.feed_forward.into.bias)
        linear(spec.ffn.linear_1, ours.feed_forward.out.weight, ours.feed_forward.out.bias)
        norm(spec.ffn.layer_norm, ours.feed_norm)

    class InMemory(Converter):  # type: ignore[misc]
        def _load(self) -> Any:
            spec = TransformerSpec.from_config(
                (config.encoder_layers, config.decoder_layers),
                config.heads,
                pre_norm=config.norm == "pre",
                activation=common_spec.Activation.RELU,
            )
            sides = (
                (spec.encoder, network.source_table, network.encoder.embed, network.encoder.blocks),
                (spec.decoder, network.target_tokens.weight, network.embed, network.decoder.blocks),
            )
            for side, table, embed, blocks in sides:
                embedding = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
                embedding.weight = numbers(table)
                side.scale_embeddings = config.scale_embedding
                side.position_encodings.encodings = numbers(embed.sinusoids)
                for theirs, ours in zip(side.layer, blocks, strict=True):
                    assert isinstance(ours, Block)
                    block(theirs, ours)
            kv_weight = network.decoder.memory.weight.chunk(config.decoder_layers)
            kv_bias = network.decoder.memory.bias.chunk(config.decoder_layers)
            for i, ours in enumerate(network.decoder.blocks):
                assert isinstance(ours, Block)
                assert ours.cross_attention is not None
                theirs = spec.decoder.layer[i].attention
                linear(theirs.linear[0], ours.cross_attention.query.weight, ours.cross_attention.query.bias)
                linear(theirs.linear[1], kv_weight[i], kv_bias[i])
                linear(theirs.linear[2], ours.cross_attention.out.weight, ours.cross_attention.out.bias)
                norm(theirs.layer_norm, ours.cross_norm)
            if config.norm == "pre":
                norm(spec.encoder.layer_norm, network.encoder.norm)
                norm(spec.decoder.layer_norm, network.decoder.norm)
            output = network.target_tokens if network.output is None else network.output
            spec.decoder.projection.weight = numbers(output.weight)
            spec.config.bos_token, spec.config.eos_token = vocabulary[BOS], vocabulary[EOS]
            spec.config.unk_token = "<unk>"
            spec.config.decoder_start_token = vocabulary[BOS]
            spec.config.add_source_bos = spec.config.add_source_eos = False
            spec.register_source_vocabulary(vocabulary)
            spec.register_target_vocabulary(vocabulary)
            return spec

    return InMemory()
