"""Processes meet where only the living have been, whatever the dead have left in the store."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch.distributed as dist

from levt.training.rendezvous import RendezvousFailed, clean


def meet(store: dist.Store, size: int, late: int | None = None) -> set[bytes]:
    """Let so many meet, one of them later; what each finds that the first has written there."""

    def one(rank: int) -> bytes:
        if rank == late:
            time.sleep(0.1)
        place = clean(store, rank, size, patience=20.0)
        if rank == 0:
            place.set("word", threading.current_thread().name + str(time.monotonic_ns()))
        found: bytes = place.get("word")
        return found

    with ThreadPoolExecutor(size) as pool:
        return set(pool.map(one, range(size)))


def test_every_attempt_has_its_own_place() -> None:
    store, seen = dist.HashStore(), set()
    for size, late in ((2, None), (2, 0), (2, 1), (4, 0), (4, 2), (3, 0), (1, None)):
        words = meet(store, size, late)
        assert len(words) == 1, "all meet in one place"
        assert not words & seen, "where nobody was before"
        seen |= words


def test_who_is_replaced_on_the_way_does_not_matter() -> None:
    """The first of an attempt dies when one of two others has answered; the one who lives follows its successor."""
    store = dist.HashStore()
    with ThreadPoolExecutor(4) as pool:
        dead = pool.submit(clean, store, 0, 3, 0.4)  # waits in vain for the third, and gives up
        living = pool.submit(clean, store, 1, 3, 20.0)
        with pytest.raises(RendezvousFailed, match="1 of 3 processes do not answer"):
            dead.result()
        others = [pool.submit(clean, store, rank, 3, 20.0) for rank in (0, 2)]
        places = [task.result() for task in (living, *others)]
    places[0].set("word", "x")
    assert all(place.get("word") == b"x" for place in places)


def test_nobody_waits_for_ever() -> None:
    with pytest.raises(RendezvousFailed, match="the first process does not answer") as caught:
        clean(dist.HashStore(), 1, 2, 0.1)
    assert "--rdzv-id" in str(caught.value)
