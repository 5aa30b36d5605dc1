"""Networks of every shape that a configuration allows, as plain settings: what all engines must be able to run."""

from typing import Any

from hypothesis import strategies as st

SHARING = ["all", "plh+tok", "tok+del", "plh+del", "none"]


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, Any]:
    joint = draw(st.booleans())
    return {
        "joint_embeddings": joint,
        "tie_output": joint or draw(st.booleans()),
        "norm": draw(st.sampled_from(["pre", "post"])),
        "final_norm": draw(st.booleans()),
        "positions": draw(st.sampled_from(["sinusoidal", "learned", "none"])),
        "activation": draw(st.sampled_from(["relu", "gelu", "gelu_tanh", "silu", "tanh"])),
        "scale_embedding": draw(st.booleans()),
        "normalise_embedding": draw(st.booleans()),
        "encoder_width": None if joint else draw(st.sampled_from([None, 24])),
        "encoder_heads": draw(st.sampled_from([None, 4])),
        "encoder_norm": draw(st.sampled_from([None, "pre", "post"])),
        "decoder_layers": 3,
    }


@st.composite
def levt_shapes(draw: st.DrawFn) -> dict[str, Any]:
    exits = {f"{p}_exit": draw(st.sampled_from([None, 1, 2, 3])) for p in ("delete", "placeholder", "token")}
    return {**draw(shapes()), **exits, "sharing": draw(st.sampled_from(SHARING))}
