"""The converter: every flag of the architecture gives the numbers of an independent stand-in for fairseq."""

from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq_stand_in import PIECES, StandIn
from recorded_runs import cases, expected

from levt.convert.fairseq import convert_fairseq
from levt.convert.fairseq_parity import Difference, differences
from levt.errors import InputError, ModelError
from levt.policy.folder import load_folder
from levt.text.specials import PLH, UNK

APART = {"share_all_embeddings": False}
FLAGS: dict[str, dict[str, Any]] = {
    "all shared": {},
    "early exits": {"early_exit": "1,2,3"},
    "tokens leave first": {"early_exit": "3,2,1"},
    "layers above every exit": {"early_exit": "1,1,2"},
    "exits above the decoder": {"early_exit": "6,6,6"},
    "delete apart": {"no_share_discriminator": True},
    "delete apart, shallow": {"no_share_discriminator": True, "early_exit": "1,2,3"},
    "delete apart, deeper than the decoder": {"no_share_discriminator": True, "early_exit": "5,6,6"},
    "placeholder apart": {"no_share_maskpredictor": True, "early_exit": "3,1,2"},
    "all apart": {"no_share_discriminator": True, "no_share_maskpredictor": True, "early_exit": "2,1,3"},
    "delete and placeholder": {
        "no_share_discriminator": True,
        "share_discriminator_maskpredictor": True,
        "early_exit": "2,1,3",
    },
    "delete and placeholder, cut": {
        "no_share_discriminator": True,
        "no_share_maskpredictor": True,
        "share_discriminator_maskpredictor": True,
        "early_exit": "2,4,3",
    },
    "pre-norm": {"encoder_normalize_before": True, "decoder_normalize_before": True, "early_exit": "1,2,3"},
    "pre-norm, towers apart": {
        "encoder_normalize_before": True,
        "decoder_normalize_before": True,
        "no_share_discriminator": True,
        "no_share_maskpredictor": True,
    },
    "pre-norm, no final norm": {"decoder_normalize_before": True, "no_decoder_final_norm": True},
    "pre-norm encoder": {"encoder_normalize_before": True},
    "sinusoids": {"encoder_learned_pos": False, "decoder_learned_pos": False},
    "learned positions in the decoder": {"encoder_learned_pos": False},
    "no positions": {"no_token_positional_embeddings": True},
    "lengths differ": {"max_source_positions": 40},
    "unscaled": {"no_scale_embedding": True},
    "normalised embeddings": {"layernorm_embedding": True},
    "two vocabularies": APART,
    "two vocabularies, untied": {**APART, "share_decoder_input_output_embed": False},
    "output bottleneck": {**APART, "share_decoder_input_output_embed": False, "decoder_output_dim": 6},
    "wider decoder": {
        **APART,
        "decoder_embed_dim": 12,
        "decoder_output_dim": 12,
        "decoder_attention_heads": 3,
    },
    "other hidden and heads": {
        "encoder_ffn_embed_dim": 20,
        "encoder_attention_heads": 4,
        "encoder_layers": 1,
    },
    **{
        f"activation {name}": {"activation_fn": name}
        for name in ("gelu", "gelu_fast", "gelu_accurate", "swish", "tanh")
    },
}


def compared(stand_in: StandIn, folder: Path, **how: Any) -> list[Difference]:
    checkpoint, dictionary, source = stand_in.save(folder, **how)
    converted = convert_fairseq(checkpoint, dictionary, source_dictionary=source)
    return differences(converted, cases(stand_in), expected(stand_in))


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS.keys())
def test_every_flag_gives_the_same_numbers(tmp_path: Path, flags: dict[str, Any]) -> None:
    rows = compared(StandIn(**flags), tmp_path)
    assert [row.head for row in rows] == ["encoder", "delete", "placeholder", "token"]
    assert all(row.cases == 3 for row in rows)
    assert all(row.within(2e-5) for row in rows), rows


@pytest.mark.parametrize("flags", [{}, FLAGS["pre-norm, towers apart"]])
def test_every_weight_matters(tmp_path: Path, flags: dict[str, Any]) -> None:
    """A change of any tensor that fairseq uses changes what the converted model computes."""
    stand_in = StandIn(**flags)
    checkpoint, dictionary, _ = stand_in.save(tmp_path)
    right = expected(stand_in)
    converted = convert_fairseq(checkpoint, dictionary)
    with torch.no_grad():
        for name, weight in converted.model.named_parameters():
            # Keys are compared with each other, so what is added to all of them alike changes nothing.
            if name.endswith((".qkv.bias", ".memory.bias")):
                continue
            before = weight.clone()
            weight.add_(torch.linspace(0.2, 0.5, weight.numel()).view_as(weight))
            rows = differences(converted, cases(stand_in), right)
            assert not all(row.within(1e-4) for row in rows), name
            weight.copy_(before)


def test_settings_of_old_checkpoints_are_found(tmp_path: Path) -> None:
    assert all(row.within(2e-5) for row in compared(StandIn(), tmp_path, old=True))


def test_old_names_are_understood(tmp_path: Path) -> None:
    stand_in = StandIn(**FLAGS["two vocabularies, untied"])
    right = expected(stand_in)
    state = stand_in.state
    state["decoder.embed_out"] = state.pop("decoder.output_projection.weight")
    for layer in [name.removesuffix(".fc1.weight") for name in state if name.endswith(".fc1.weight")]:
        norms = ["self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"]
        there = [norm for norm in norms if f"{layer}.{norm}.weight" in state]
        for attention in ("self_attn", "encoder_attn"):
            for part in ("weight", "bias"):
                if f"{layer}.{attention}.q_proj.{part}" in state:
                    state[f"{layer}.{attention}.in_proj_{part}"] = torch.cat(
                        [state.pop(f"{layer}.{attention}.{x}_proj.{part}") for x in "qkv"]
                    )
        for i, norm in enumerate(there):
            for part in ("weight", "bias"):
                state[f"{layer}.layer_norms.{i}.{part}"] = state.pop(f"{layer}.{norm}.{part}")
    checkpoint, dictionary, source = stand_in.save(tmp_path)
    converted = convert_fairseq(checkpoint, dictionary, source_dictionary=source)
    assert all(row.within(2e-5) for row in differences(converted, cases(stand_in), right))


def test_half_precision_becomes_single(tmp_path: Path) -> None:
    stand_in = StandIn()
    stand_in.state = {name: tensor.half() for name, tensor in stand_in.state.items()}
    table = stand_in.state["encoder.embed_tokens.weight"]
    stand_in.state |= {
        "decoder.embed_tokens.weight": table,
        "decoder.output_projection.weight": table.clone(),
    }
    checkpoint, dictionary, _ = stand_in.save(tmp_path)
    converted = convert_fairseq(checkpoint, dictionary)
    assert {p.dtype for p in converted.model.parameters()} == {torch.float32}
    assert torch.equal(converted.model.delete_head, stand_in.state["decoder.embed_word_del.weight"].float())


def test_the_placeholder_is_a_copy_of_their_unknown_word(tmp_path: Path) -> None:
    stand_in = StandIn()
    checkpoint, dictionary, _ = stand_in.save(tmp_path)
    converted = convert_fairseq(checkpoint, dictionary)
    table = converted.model.target_tokens.weight
    assert torch.equal(table[PLH], stand_in.state["decoder.embed_tokens.weight"][3])
    assert torch.equal(table[UNK], table[PLH])
    tokenizer = converted.tokenizers.target
    assert tokenizer.pieces(tokenizer.encode("▁a ▁dog run s .")) == ["▁a", "▁dog", "run", "s", "."]
    assert tokenizer.decode(tokenizer.encode("▁a ▁dog")) == "▁a ▁dog"


def test_a_folder_written_from_a_checkpoint_gives_the_same_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from levt.cli import main

    stand_in = StandIn(**FLAGS["all apart"], **APART)
    checkpoint, dictionary, source = stand_in.save(tmp_path / "theirs")
    out = tmp_path / "ours"
    main(
        [
            "convert",
            "fairseq",
            str(checkpoint),
            "--dict",
            str(dictionary),
            "--source-dict",
            str(source),
            "--out",
            str(out),
        ]
    )
    assert "parameters" in capsys.readouterr().err
    loaded = load_folder(out)
    assert loaded.tokenizers.separate
    assert loaded.config.training is not None
    assert loaded.config.training["languages"] == ["de", "en"]
    converted = convert_fairseq(checkpoint, dictionary, source_dictionary=source)
    for name, tensor in converted.model.state_dict().items():
        assert torch.equal(loaded.model.state_dict()[name], tensor)
    text = (out / "config.json").read_text(encoding="utf-8") + (out / "README.md").read_text(encoding="utf-8")
    assert str(tmp_path) not in text


def damaged(tmp_path: Path, stand_in: StandIn) -> str:
    checkpoint, dictionary, source = stand_in.save(tmp_path)
    with pytest.raises(ModelError) as caught:
        convert_fairseq(checkpoint, dictionary, source_dictionary=source)
    return str(caught.value)


def test_all_problems_of_the_weights_are_named_together(tmp_path: Path) -> None:
    stand_in = StandIn()
    del stand_in.state["encoder.layers.1.fc1.bias"]
    stand_in.state["decoder.layers.0.fc2.weight"] = torch.zeros(3, 3)
    stand_in.state["decoder.quant_noise.weight"] = torch.zeros(8, 8)
    stand_in.state["decoder.layers.3.fc1.weight"] = torch.zeros(12, 8)
    message = damaged(tmp_path, stand_in)
    assert "4 problems" in message
    assert "encoder.layers.1.fc1.bias is missing" in message
    assert "decoder.layers.0.fc2.weight must have the shape (8, 12), has (3, 3)" in message
    assert "decoder.quant_noise.weight is not known" in message
    assert "decoder.layers.3.fc1.weight is not known" in message


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            {"cross_self_attention": True, "adaptive_input": True},
            ["cross_self_attention", "adaptive_input", "2 problems"],
        ),
        ({"adaptive_softmax_cutoff": "100,200"}, ["adaptive_softmax_cutoff"]),
        ({"encoder_layers_to_keep": "0,1"}, ["encoder_layers_to_keep"]),
        ({"encoder_layers": "2"}, ["encoder_layers must be like 6, got '2'"]),
        ({"encoder_layers": 10**12}, ["encoder_layers must be at most"]),
        (
            {"decoder_ffn_embed_dim": 10**12, "decoder_embed_dim": 10**30},
            ["decoder_ffn_embed_dim must be at most", "decoder_embed_dim must be at most"],
        ),
    ],
)
def test_settings_that_cannot_be_converted_are_refused(
    tmp_path: Path, flags: dict[str, Any], words: list[str]
) -> None:
    stand_in = StandIn()
    stand_in.settings |= flags
    message = damaged(tmp_path, stand_in)
    assert all(word in message for word in words), message


@pytest.mark.parametrize("value", ["3,3", "a,b,c", "", "3,3,3,3", f"3,{10**12},3"])
def test_a_wrong_early_exit_is_refused(tmp_path: Path, value: str) -> None:
    stand_in = StandIn()
    stand_in.settings["early_exit"] = value
    assert "early_exit must be three depths" in damaged(tmp_path, stand_in)


def test_towers_shared_without_one_of_their_own_are_refused(tmp_path: Path) -> None:
    stand_in = StandIn()
    stand_in.settings["share_discriminator_maskpredictor"] = True
    assert "needs no_share_discriminator" in damaged(tmp_path, stand_in)


def test_an_unknown_activation_is_refused(tmp_path: Path) -> None:
    stand_in = StandIn()
    stand_in.settings["activation_fn"] = "linear"
    assert "activation_fn must be one of relu" in damaged(tmp_path, stand_in)


def test_tied_tensors_that_differ_are_refused(tmp_path: Path) -> None:
    stand_in = StandIn()
    stand_in.state["encoder.embed_tokens.weight"] = stand_in.state["encoder.embed_tokens.weight"] + 1
    assert "should be one tensor, but differ" in damaged(tmp_path, stand_in)


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    stand_in = StandIn()
    del stand_in.state["decoder.embed_mask_ins.weight"]
    assert "not a Levenshtein Transformer" in damaged(tmp_path, stand_in)


def test_a_checkpoint_without_settings_is_refused(tmp_path: Path) -> None:
    checkpoint, dictionary, _ = StandIn().save(tmp_path)
    for contents in ({"model": {}}, {"weights": 1}, [1, 2]):
        torch.save(contents, checkpoint)
        with pytest.raises(ModelError):
            convert_fairseq(checkpoint, dictionary)


def test_another_dictionary_is_refused(tmp_path: Path) -> None:
    checkpoint, dictionary, _ = StandIn().save(tmp_path)
    dictionary.write_text("▁a 1\n▁b 1\n", encoding="utf-8")
    with pytest.raises(ModelError, match="12 rows, but its dictionary 2 pieces"):
        convert_fairseq(checkpoint, dictionary)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a 1\na 2\n", "repeats 'a' of line 1"),
        ("a\n", "line 1 must be"),
        ("a b\n", "line 1"),
        ("\n", "line 1"),
    ],
)
def test_a_damaged_dictionary_is_refused(tmp_path: Path, text: str, words: str) -> None:
    checkpoint, dictionary, _ = StandIn().save(tmp_path)
    dictionary.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        convert_fairseq(checkpoint, dictionary)


def test_an_overwritten_word_keeps_its_row(tmp_path: Path) -> None:
    stand_in = StandIn()
    checkpoint, dictionary, _ = stand_in.save(tmp_path)
    lines = [f"{piece} 1" for piece in PIECES]
    lines[5] = "▁a 1 #fairseq:overwrite"
    dictionary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    converted = convert_fairseq(checkpoint, dictionary)
    (found,) = converted.tokenizers.target.encode("▁a")
    row = converted.model.target_tokens.weight[found]
    assert torch.equal(row, stand_in.state["decoder.embed_tokens.weight"][5 + 4])
