"""Our own compiled passes by many threads: those of a server at once, and a team that shares one product."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from test_native_engine import engine_of, wide

from levt.refine.request import Request

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler")


def test_threads_of_a_server_may_run_it_at_once() -> None:
    engine, found = engine_of(wide(6), "int8", 2), {}
    requests = [Request(source=tuple(range(5, 9 + n))) for n in range(6)]

    def run(i: int) -> None:
        for _ in range(5):
            [outcome] = engine.refine(engine.encode([requests[i].source]), [requests[i]])
        found[i] = outcome.tokens

    workers = [threading.Thread(target=run, args=(i,)) for i in range(len(requests))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    expected = engine.refine(engine.encode([r.source for r in requests]), requests)
    assert [found[i] for i in range(len(requests))] == [outcome.tokens for outcome in expected]


CREW = """
import os
import threading
from pathlib import Path

import numpy as np
from test_native_engine import policy_of, wide


def threads():
    return len(os.listdir("/proc/self/task"))


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert all(np.array_equal(one.kv[name], other.kv[name]) for name in one.kv)


def memory():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


net = wide(1, max_length=1024)
team, alone = policy_of(net, threads=4).packed, policy_of(net, threads=1).packed
rows = [[1, *range(5, 9 + i), 2] for i in range(8)]
before = threads()
team.encode(rows[:1])
first = threads() - before
found = team.encode(rows)
print(first, threads() - before)
same(found, alone.encode(rows))
for _ in range(20):  # by two again: the other members stay out of it
    same(team.encode(rows[:1]), alone.encode(rows[:1]))
net = wide(2, width=640, heads=5, hidden=640)
same(policy_of(net, threads=5).packed.encode(rows[:1]), policy_of(net, threads=1).packed.encode(rows[:1]))
long = [[1, *[7] * 1000, 2]]
alone.encode(long)
before = memory()
for _ in range(40):
    thread = threading.Thread(target=alone.encode, args=(long,))
    thread.start()
    thread.join()
print((memory() - before) >> 20)
# A thread that has seen nothing long: a short state looks at a long source, and has the room that this needs.
[tower], found = alone.towers, []
wanted = alone.states(alone.encode(long), [[1, 7, 2]], tower, 2)
sources = alone.encode(long)
for _ in range(20):
    look = lambda: found.append(alone.states(sources, [[1, 7, 2]], tower, 2))
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
assert all(np.array_equal(one, wanted) for one in found)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="no /proc")
def test_a_team_grows_and_threads_that_end_leave_no_memory() -> None:
    """In a process of its own: its first row can be shared by two, eight rows by four, a wider one by five."""
    here = Path(__file__).parent
    path = os.pathsep.join(filter(None, (str(here), str(here.parent), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CREW], capture_output=True, text=True, env=env, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    crew, grown = done.stdout.splitlines()
    assert crew == "1 3"
    assert int(grown) < 60, "each thread needs more than 4 MiB"
