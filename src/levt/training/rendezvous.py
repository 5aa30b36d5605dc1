"""A clean meeting place for the processes of a run, also after some of them were killed and started again.

torchrun keeps one key-value store for all restarts, and what earlier processes wrote to it, among it the addresses
of the dead, is still there: who reads it waits for nobody. (The number of restarts does not tell the attempts apart:
each node counts its own.) So processes first agree on a name that was never used, and meet under it.
"""

import time
import uuid
from datetime import timedelta

import torch.distributed as dist
from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]

from levt.errors import LevtError

POLL = 0.02
"""Seconds between two looks."""


class RendezvousFailed(LevtError):
    """Processes that should train together have not found each other."""


def agent_store(host: str, port: int, size: int) -> dist.Store:
    """The store of torchrun's agent."""
    return TCPStore(host, port, size, is_master=False, timeout=timedelta(minutes=5), wait_for_workers=False)


def clean(store: dist.Store, rank: int, size: int, patience: float = 600.0) -> dist.Store:
    """The part of a store in which only the processes that live now have written, or will."""
    end = time.monotonic() + patience
    me = uuid.uuid4().hex
    store.set(f"levt/here/{rank}", me)
    name = _invite(store, me, size, end) if rank == 0 else _follow(store, me, rank, end)
    return PrefixStore(f"levt/{name}", store)


def _invite(store: dist.Store, name: str, size: int, end: float) -> str:
    """The first asks in whoever is here, until all have answered; the dead never do, who comes later will."""
    asked: dict[int, str] = {}
    missing = set(range(1, size))
    while missing:
        for rank in sorted(missing):
            if store.check([f"levt/here/{rank}"]):
                who = store.get(f"levt/here/{rank}").decode()
                if asked.get(rank) != who:
                    store.set(f"levt/invited/{who}", name)
                    asked[rank] = who
            if store.check([f"levt/{name}/in/{rank}"]):
                missing.discard(rank)
        _patience(end, f"{len(missing)} of {size} processes do not answer")
    store.set(f"levt/{name}/all", "here")
    return name


def _follow(store: dist.Store, me: str, rank: int, end: float) -> str:
    """The others go where they are asked in; if the first is replaced before all are there, where the new one is."""
    name = ""
    while not name or not store.check([f"levt/{name}/all"]):
        if store.check([f"levt/invited/{me}"]):
            latest = store.get(f"levt/invited/{me}").decode()
            if latest != name:
                name = latest
                store.set(f"levt/{name}/in/{rank}", "1")
        _patience(end, "the first process does not answer" if not name else "some processes do not answer")
    return name


def _patience(end: float, what: str) -> None:
    if time.monotonic() > end:
        raise RendezvousFailed(what, hint="is torchrun running on every node, with the same --rdzv-id?")
    time.sleep(POLL)
