"""Teacher forcing: equal to a padded computation row by row, for every sibling that writes from left to right."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_lessons import (
    SMALL,
    VOCABULARY,
    assert_same_gradients,
    network,
    noisy,
    sentences,
    store_of,
    tensors,
)

from levt.data.pack import Packed as Budget
from levt.errors import ConfigError
from levt.imitation.teacher_forcing import TeacherForcing, TeacherForcingLessons
from levt.policy.config import AutoregressiveConfig, ModelConfig, PostEditingConfig, RecurrentConfig
from levt.policy.post_editing import PostEditor

SOURCE, TARGET = sentences(9, seed=1, most=12), sentences(9, seed=2)
DRAFT = noisy(TARGET, seed=3)
RECURRENT = {"source_vocabulary": VOCABULARY, "target_vocabulary": VOCABULARY, "width": 16, "max_length": 64}
CONFIGS: dict[str, ModelConfig] = {
    "autoregressive": AutoregressiveConfig(**SMALL),
    "separate": AutoregressiveConfig(**{**SMALL, "joint_embeddings": False}),
    "post-editing": PostEditingConfig(**SMALL),
    "recurrent": RecurrentConfig(**RECURRENT, dropout=0.0),
    "bidirectional": RecurrentConfig(**RECURRENT, dropout=0.0, bidirectional=True),
}


@pytest.fixture
def lessons(tmp_path: Path) -> Any:
    def make(config: ModelConfig) -> TeacherForcingLessons:
        store = store_of(tmp_path, source=SOURCE, draft=DRAFT, target=TARGET)
        budget = Budget.fitting(store, target=160)
        return TeacherForcingLessons(
            store, budget, smoothing=0.1, reads_draft=isinstance(config, PostEditingConfig)
        )

    return make


def obvious(model: Any, row: int) -> torch.Tensor:
    """The loss of one example by itself."""
    x = torch.tensor([[1, *SOURCE[row], 2]])
    if isinstance(model, PostEditor):
        memory = model.encode_pair(x, torch.tensor([[1, *DRAFT[row], 2]]))
    else:
        memory = model.encode(x)
    log_p = model.logits(memory, torch.tensor([[1, *TARGET[row]]]))[0].log_softmax(-1)
    labels = [*TARGET[row], 2]
    return torch.stack([-0.9 * log_p[i, t] - 0.1 * log_p[i].mean() for i, t in enumerate(labels)]).sum()


@pytest.mark.parametrize("name", CONFIGS)
def test_equals_the_obvious(name: str, lessons: Any) -> None:
    model = network(CONFIGS[name])
    teaching = lessons(CONFIGS[name])
    rows = np.array([4, 0, 8, 2, 1])
    lesson, counted = teaching.make(rows, np.random.default_rng(0))
    objective = teaching.objective(model)
    assert isinstance(objective, TeacherForcing)
    loss, sums = objective(tensors(lesson), torch.from_numpy(counted).float())
    wanted = sum(obvious(model, int(row)) for row in rows)
    assert counted.tolist() == [sum(len(TARGET[row]) + 1 for row in rows)]
    torch.testing.assert_close(sums[0], wanted.detach(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(loss, wanted / int(counted[0]), rtol=1e-4, atol=1e-4)
    assert_same_gradients(model, loss, wanted / int(counted[0]))


@pytest.mark.parametrize("name", CONFIGS)
def test_two_halves_have_the_gradient_of_the_whole(name: str, lessons: Any) -> None:
    model, teaching = network(CONFIGS[name]), lessons(CONFIGS[name])
    objective, draw = teaching.objective(model), np.random.default_rng(0)
    found = []
    for parts in ([range(9)], [range(4), range(4, 9)], [range(9), []]):
        made = [teaching.make(np.array(list(part), np.int64), draw) for part in parts]
        total = torch.from_numpy(np.sum([counted for _, counted in made], 0)).float()
        model.zero_grad()
        for lesson, _ in made:
            objective(tensors(lesson), total)[0].backward()
        found.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-6)
    torch.testing.assert_close(found[0], found[2], rtol=1e-3, atol=1e-6)


def test_a_post_editor_needs_drafts(tmp_path: Path) -> None:
    store = store_of(tmp_path, source=SOURCE, target=TARGET)
    budget = Budget.fitting(store, target=160)
    with pytest.raises(ConfigError, match="this corpus has none\nhint: prepare triples"):
        TeacherForcingLessons(store, budget, smoothing=0.1, reads_draft=True)
