"""Configurations of networks: JSON and back, read strictly, every problem named."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import pytest

from levt.errors import ConfigError
from levt.policy.build import NETWORKS, build
from levt.policy.config import CONFIGS, POLICIES, TOWERS, LevTConfig, ModelConfig, RecurrentConfig
from levt.policy.levt import LevT
from levt.policy.read_config import config_from_json

SIZES: dict[str, Any] = {"source_vocabulary": 30, "target_vocabulary": 30}


@pytest.mark.parametrize("kind", CONFIGS)
def test_json_and_back(kind: str) -> None:
    config = CONFIGS[kind](**SIZES, width=32, dropout=0.25)
    saved = config.to_json()
    assert saved["kind"] == kind
    assert config_from_json(saved) == config
    assert type(config_from_json(saved)) is CONFIGS[kind]


def test_a_kind_has_one_configuration() -> None:
    with pytest.raises(TypeError, match="Copied has the kind 'recurrent', which is that of RecurrentConfig"):

        class Copied(ModelConfig):
            kind: ClassVar[str] = "recurrent"

    assert CONFIGS["recurrent"] is RecurrentConfig


def test_what_cannot_be_read_back_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Variant(LevTConfig):
        pass

    with pytest.raises(ConfigError, match="nobody knows the network of Variant") as caught:
        build(Variant(**SIZES))
    assert "hint: add a line to NETWORKS in policy/build.py" in str(caught.value)
    monkeypatch.setitem(NETWORKS, Variant, LevT)
    with pytest.raises(ConfigError, match="Variant has no kind of its own, 'levt' is another's"):
        build(Variant(**SIZES))


def test_json_holds_plain_values() -> None:
    for cls in CONFIGS.values():
        assert all(v is None or type(v) in (int, float, bool, str) for v in cls(**SIZES).to_json().values())


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        LevTConfig(**SIZES, width=10, heads=4, dropout=1.0, delete_exit=7, max_count=0)
    message = str(caught.value)
    assert "4 problems" in message
    for word in ("multiple of heads", "dropout", "delete_exit", "max_count", "got 7"):
        assert word in message


def test_reading_is_strict() -> None:
    saved = LevTConfig(**SIZES).to_json()
    del saved["source_vocabulary"]
    saved |= {"dim": 3, "heads": "8", "scale_embedding": 1, "sharing": "some", "max_count": True}
    with pytest.raises(ConfigError) as caught:
        config_from_json(saved)
    message = str(caught.value)
    assert "6 problems" in message
    for word in ("'dim'", "'source_vocabulary'", "heads", "scale_embedding", "'plh+tok'", "max_count"):
        assert word in message


@pytest.mark.parametrize("saved", [{}, {"kind": "levy"}, {"kind": 3}, {"kind": []}])
def test_kind_is_needed(saved: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="kind") as caught:
        config_from_json(saved)
    assert "autoregressive" in str(caught.value)


def test_whole_numbers_do_for_shares() -> None:
    config = config_from_json({"kind": "recurrent", **SIZES, "dropout": 0})
    assert isinstance(config, RecurrentConfig)
    assert config.dropout == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"joint_embeddings": True, "source_vocabulary": 31},
        {"joint_embeddings": True, "tie_output": False},
        {"joint_embeddings": True, "encoder_width": 256},
        {"joint_embeddings": False, "encoder_width": 100, "encoder_heads": 3},
        {"target_vocabulary": 4, "source_vocabulary": 4},
        {"width": 9, "heads": 3},
        {"token_exit": 0},
        {"max_length": 1},
    ],
)
def test_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        LevTConfig(**{**SIZES, **fields})


def test_towers_hold_each_policy_once() -> None:
    for groups in TOWERS.values():
        assert sorted(p for group in groups for p in group) == ["delete", "placeholder", "token"]


@pytest.mark.parametrize("sharing", TOWERS)
def test_who_shares_a_tower_is_said_by_its_name(sharing: Any) -> None:
    short = {"delete": "del", "placeholder": "plh", "token": "tok"}
    config = LevTConfig(**SIZES, sharing=sharing)
    for one, other in combinations(POLICIES, 2):
        named = sharing == "all" or {short[one], short[other]} == set(sharing.split("+"))
        assert config.shares(one, other) == config.shares(other, one) == named
    assert sorted(policy for group in TOWERS[sharing] for policy in group) == sorted(POLICIES)


def test_a_tower_is_as_deep_as_its_last_exit() -> None:
    config = LevTConfig(**SIZES, sharing="plh+del", delete_exit=2, placeholder_exit=4)
    assert config.depths == {("delete", "placeholder"): 4, ("token",): 6}


def test_kinds_are_frozen() -> None:
    config: ModelConfig = LevTConfig(**SIZES)
    with pytest.raises(AttributeError):
        config.width = 3  # type: ignore[misc]
