"""The network against the paper's equations (2) to (5), one place at a time."""

import math

import torch
from small_networks import levt_config, network, pad, sentences
from torch.nn import functional as F

from levt.policy.config import LevTConfig
from levt.policy.embedding import sinusoids
from levt.policy.layout import Padded
from levt.text.specials import PLH


def test_the_papers_sizes() -> None:
    """A has 2 × d, B (K_max + 1) × 2d weights, and C is the embedding E."""
    config = LevTConfig(source_vocabulary=40, target_vocabulary=40, encoder_layers=1, decoder_layers=1)
    assert (config.width, config.max_count) == (512, 255)
    model = network(config)
    assert model.delete_head.shape == (2, 512)
    assert model.placeholder_head.shape == (256, 1024)
    assert model.output is None
    assert model.source_table is model.target_tokens.weight


@torch.no_grad()
def test_states_begin_as_tokens_and_positions() -> None:
    """Eq. 2, l = 0: E_y + P, with E scaled by √d as in the Transformer whose sizes these are."""
    model = network(levt_config()).eval()
    y = pad(sentences(3))
    d = model.config.width
    wanted = F.embedding(y, model.target_tokens.weight) * math.sqrt(d) + sinusoids(y.shape[1], d)
    found = model.embed_target(y, Padded.of(y))
    torch.testing.assert_close(found[y > 0], wanted[y > 0])


@torch.no_grad()
def test_the_three_classifiers() -> None:
    """Eq. 3, 4 and 5."""
    model = network(levt_config(sharing="none")).eval()
    x, y = pad(sentences(3)), pad(sentences(3, seed=1, placeholders=True))
    memory, layout = model.encode(x), Padded.of(y)
    states = {policy: model.hidden(memory, y, layout, policy) for policy in model.towers}
    delete, placeholder, token = model.delete(memory, y), model.placeholder(memory, y), model.token(memory, y)
    a, b, c = model.delete_head, model.placeholder_head, model.target_tokens.weight
    for row, length in enumerate(layout.real.sum(1).tolist()):
        for i in range(length):
            torch.testing.assert_close(delete[row, i].exp(), (a @ states["delete"][row, i]).softmax(-1))
            if i + 1 < length:
                both = torch.cat([states["placeholder"][row, i], states["placeholder"][row, i + 1]])
                torch.testing.assert_close(placeholder[row, i].exp(), (b @ both).softmax(-1))
            if y[row, i] == PLH:
                scores = c @ states["token"][row, i]
                scores[PLH] = -math.inf  # no class: a placeholder is never written
                torch.testing.assert_close(token[row, i, 5:].exp(), scores.softmax(-1)[5:])
