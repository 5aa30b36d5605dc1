"""A LevT inherits from an autoregressive model: the same memory, the same words for the same states."""

import pytest
import torch

from levt.errors import ConfigError
from levt.policy.autoregressive import Autoregressive
from levt.policy.build import build
from levt.policy.config import AutoregressiveConfig, LevTConfig
from levt.policy.inherit import inherit
from levt.policy.layout import Padded
from levt.policy.levt import LevT

SIZES = {
    "source_vocabulary": 20, "target_vocabulary": 20, "width": 16, "hidden": 24, "heads": 2, "encoder_layers": 2,
    "decoder_layers": 2, "max_length": 32, "norm": "pre",
}  # fmt: skip


def pair(**more: object) -> tuple[LevT, Autoregressive]:
    torch.manual_seed(3)
    parent = build(AutoregressiveConfig(**SIZES, dropout=0.2))  # type: ignore[arg-type]
    child = build(LevTConfig(**{**SIZES, **more}, dropout=0.0))  # type: ignore[arg-type]
    assert isinstance(child, LevT)
    assert isinstance(parent, Autoregressive)
    return child.eval(), parent.eval()


@pytest.mark.parametrize("sharing", ["all", "plh+tok", "none"])
def test_the_last_state_of_a_row_is_the_same_in_every_tower(sharing: str) -> None:
    child, parent = pair(sharing=sharing)
    fresh = child.delete_head.clone()
    x, y = torch.tensor([[0, 7, 8, 9, 2]]), torch.tensor([[1, 11]])
    before = child.encode(x).states.clone()
    inherit(child, parent)
    theirs, mine = parent.encode(x), child.encode(x)
    assert torch.equal(theirs.states, mine.states)
    assert not torch.equal(before, mine.states)
    # A causal row of one token sees all that there is.
    one, layout = y[:, :1], Padded.of(y[:, :1])
    for policy in ("delete", "placeholder", "token"):
        mine_at, theirs_at = child.hidden(mine, one, layout, policy), parent.hidden(theirs, one, layout)  # type: ignore[arg-type]
        torch.testing.assert_close(mine_at, theirs_at)
    torch.testing.assert_close(
        child.token_logits(child.hidden(mine, one, layout, "token")),
        parent.token_logits(parent.hidden(theirs, one, layout)),
    )
    assert torch.equal(child.delete_head, fresh), "what the parent has not is left as it is"


def test_another_size_is_told() -> None:
    child, parent = pair(width=32, heads=4)
    with pytest.raises(ConfigError, match="cannot be inherited: 2 problems") as caught:
        inherit(child, parent)
    assert "width is 16 there and 32 here" in str(caught.value)
    child, parent = pair(sharing="none", delete_exit=1)
    with pytest.raises(ConfigError, match="it has 2 layers, a tower here 1"):
        inherit(child, parent)
