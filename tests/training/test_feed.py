"""The feed: lessons in order from any position on, the same again, and an error or an end that reaches everybody."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from small_runs import copy_store, lessons, network

from levt.data.batches import Batches
from levt.data.order import Order
from levt.imitation.lesson import Arrays
from levt.imitation.lessons import Lessons
from levt.training.feed import Feed, Position


@pytest.fixture
def teaching(tmp_path: Path) -> Lessons:
    return lessons(copy_store(tmp_path / "store", draft=True), network("levt"), 128)


def batches(teaching: Lessons, worker: int = 0, workers: int = 1) -> Batches:
    return Batches(teaching.store, teaching.budget, order=Order(seed=3), worker=worker, workers=workers)


def test_order_and_resumed_position(teaching: Lessons) -> None:
    """From every position the feed goes on with the very lessons that came behind it, over epochs."""
    with Feed(teaching, batches(teaching), seed=5, start=Position()) as feed:
        micros = [feed.next() for _ in range(30)]
    assert max(m.after.epoch for m in micros) > 1
    assert sum(feed.sizes.values()) == len(micros[0].buffer)
    for i in (0, 1, 7, 12, 25):
        with Feed(teaching, batches(teaching), seed=5, start=micros[i].after) as feed:
            for wanted in micros[i + 1 : i + 4]:
                got = feed.next()
                assert torch.equal(got.buffer, wanted.buffer)
                assert got.decisions.tolist() == wanted.decisions.tolist()
                assert (got.after, got.tokens) == (wanted.after, wanted.tokens)
    with Feed(teaching, batches(teaching), seed=6, start=Position()) as feed:
        assert not torch.equal(feed.next().buffer, micros[0].buffer)


def test_an_epoch_has_every_token_once_whoever_works(teaching: Lessons) -> None:
    whole = teaching.store.tokens("target") + 2 * len(teaching.store)
    for workers in (1, 3):
        seen = 0
        for worker in range(workers):
            with Feed(teaching, batches(teaching, worker, workers), seed=5, start=Position()) as feed:
                while (micro := feed.next()).after.epoch == 0:
                    seen += micro.tokens
        assert seen == whole


def test_an_epoch_begins_differently_from_the_one_before(teaching: Lessons) -> None:
    first = {}
    with Feed(teaching, batches(teaching), seed=5, start=Position()) as feed:
        for _ in range(30):
            micro = feed.next()
            first.setdefault(micro.after.epoch, micro.buffer)
    assert not torch.equal(first[0], first[1])


class Broken(Lessons):
    """Fails at the third lesson it is asked for."""

    names = ("token",)

    def __init__(self, inner: Lessons) -> None:
        super().__init__(inner.store, inner.budget)
        self.inner, self.made = inner, 0

    def objective(self, model: torch.nn.Module) -> torch.nn.Module:
        raise NotImplementedError

    def make(self, rows: np.ndarray, draw: np.random.Generator) -> tuple[Arrays, np.ndarray]:
        self.made += 1
        if self.made == 4:  # the feed itself makes one, to know the sizes
            raise OSError("the disk is gone")
        return self.inner.make(rows, draw)


def test_an_error_comes_where_it_happened(teaching: Lessons) -> None:
    with Feed(Broken(teaching), batches(teaching), seed=5, start=Position()) as feed:
        feed.next()
        feed.next()
        with pytest.raises(OSError, match="the disk is gone"):
            feed.next()


@pytest.mark.parametrize("ahead", [1, 2, 8])
def test_closing_never_hangs(teaching: Lessons, ahead: int) -> None:
    """Also where the queue is full and an error waits to be handed over."""
    for broken in (False, True):
        feed = Feed(
            Broken(teaching) if broken else teaching,
            batches(teaching),
            seed=5,
            start=Position(),
            ahead=ahead,
        )
        time.sleep(0.1)
        assert feed.waiting <= ahead
        closer = threading.Thread(target=feed.close, daemon=True)
        closer.start()
        closer.join(timeout=20)
        assert not closer.is_alive()
