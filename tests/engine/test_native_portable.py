"""Our own compiled passes on processors that have less than this one: the same scores, by the plain loops of C."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from test_native_engine import SIZE, compare, policy_of, wide

from levt.edits.state import State
from levt.engine import native_library
from levt.engine.native_policy import NativePolicy
from levt.engine.onnx_linear import quantised
from levt.policy.layout import Padded
from levt.text.specials import SPECIALS
from tiny_models import network

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is kept: compiled once for all tests here."""
    return tmp_path_factory.mktemp("native")


@pytest.fixture
def plain(built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The library as it is compiled for any processor of this kind, without what only newer ones have."""
    fewer = [flag for flag in native_library.FLAGS if not flag.startswith("-m")]
    monkeypatch.setattr(native_library, "FLAGS", fewer)
    monkeypatch.setenv("XDG_CACHE_HOME", str(built))
    native_library.library.cache_clear()
    yield
    native_library.library.cache_clear()


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_network(seed: int) -> None:
    rng = random.Random(seed)
    rows = [tuple(rng.randrange(5, SIZE) for _ in range(n)) for n in (0, 1, 7, 16, 33, 20)]
    pairs = list(zip(rows, reversed(rows), strict=True))
    activation = ("relu", "gelu", "silu")[seed]
    compare(network("levt", seed, hidden=30, activation=activation), pairs, threads=1)  # type: ignore[arg-type]
    compare(wide(seed, activation=activation), pairs, threads=2)


@pytest.mark.parametrize("shape", [{"hidden": 320}, {"heads": 1}, {"width": 192}], ids=str)
def test_what_cannot_be_shared_alike_is_done_by_one(shape: dict[str, int]) -> None:
    """Half of the columns would begin inside a panel, half of the heads would be none."""
    net = wide(1, **shape)
    # A team may pay or not, from pass to pass: both ways are tried within a few.
    for n in range(20):
        compare(net, [((7, 8, 9), tuple(range(5, 6 + n)))], threads=2)


def test_a_symbol_is_not_written_where_it_is_as_likely_as_the_best() -> None:
    net = wide(1)
    with torch.no_grad():
        net.target_tokens.weight.copy_(net.target_tokens.weight[:1].expand(SIZE, -1))
    h = np.random.default_rng(0).standard_normal((7, 128)).astype(np.float32)
    tokens, logp = policy_of(net).packed.best_tokens(h)
    assert tokens == [len(SPECIALS)] * 7
    assert logp == pytest.approx([-np.log(SIZE - 1)] * 7, abs=1e-4)


def test_scores_far_apart_overflow_nowhere() -> None:
    """Attention to a single place: the exponential of any but the largest score would be too much for a float."""
    net = wide(2)
    with torch.no_grad():
        for block in (*net.encoder.blocks, *net.towers["token"].blocks):
            block.self_attention.qkv.weight[: net.config.width] *= 60
    rows = [tuple(range(5, 30)), tuple(range(30, 8, -1))]
    memory, x = net.encode(y := State.of(rows).y), net.embed_target(y, Padded.of(y))
    q, k, _ = net.towers["token"].blocks[0].self_attention.project(x, Padded.of(y))
    scores = torch.einsum("bnhe,bmhe->bhnm", q, k) / 8
    assert (scores.amax(-1) - scores[..., 0]).max() > 100
    assert memory.states.isfinite().all()
    compare(net, list(zip(rows, rows[::-1], strict=True)), threads=1)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_bytes_are_those_of_newer_processors(activation: str, request: pytest.FixtureRequest) -> None:
    net, rng = wide(5, activation=activation), random.Random(0)
    rows = [[1, *(rng.randrange(5, SIZE) for _ in range(n)), 2] for n in (8, 21, 0)]
    here = states(policy_of(net, "int8"), rows)
    request.getfixturevalue("plain")
    there = states(policy_of(net, "int8"), rows)
    # Sums of floats have another order, which may round a number to the next byte.
    assert np.linalg.norm(here - there) < 0.01 * np.linalg.norm(here)


@pytest.mark.parametrize("fixture", ["plain", None])
def test_a_product_of_bytes_is_that_of_whole_numbers(
    fixture: str | None, request: pytest.FixtureRequest
) -> None:
    if fixture is not None:
        request.getfixturevalue(fixture)
    net = wide(3, width=70, heads=2, hidden=66)  # neither whole panels nor whole words
    packed, tower = policy_of(net, "int8").packed, net.towers["token"]
    for rows in (1, 5, 6, 7, 13):
        x = np.random.default_rng(rows).standard_normal((rows, 70)).astype(np.float32)
        x[0] *= rows % 2  # a row of zeros has no scale
        found = packed._mapped(packed.memory[tower.name], tower.depth, x)
        most = np.abs(x).max(1, keepdims=True)
        by = np.divide(np.float32(127), most, out=np.zeros_like(most), where=most > 0)
        for layer, (weight, bias) in enumerate(
            zip(tower.memory.weight.chunk(tower.depth), tower.memory.bias.chunk(tower.depth), strict=True)
        ):
            whole, scales = quantised(weight.detach().numpy())
            sums = np.rint(x * by) @ whole.T.astype(np.float64)
            wanted = most / 127 * scales * sums + bias.detach().numpy()
            np.testing.assert_allclose(found[layer], wanted, rtol=1e-5, atol=1e-6)


FORK = """
import os
import signal

import numpy as np
from test_native_engine import policy_of, wide

packed = policy_of(wide(1), threads=4).packed
rows = [[1, *range(5, 9 + i), 2] for i in range(8)]
expected = packed.encode(rows)
child = os.fork()
if child == 0:
    signal.alarm(30)
    for _ in range(3):
        for one, other in zip(packed.encode(rows), expected, strict=True):
            assert all(np.array_equal(one.kv[name], other.kv[name]) for name in one.kv)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0, "the child waits for threads that it has not"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_has_a_crew_of_its_own() -> None:
    here = Path(__file__).parent
    path = os.pathsep.join(filter(None, (str(here), str(here.parent), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr


def states(policy: NativePolicy, rows: list[list[int]]) -> np.ndarray:
    return policy.states(policy.packed.encode(rows), rows, "token")
