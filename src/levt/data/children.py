"""Processes that help with some work: they end with the one that started them, and by Ctrl-C without a word.

A terminal sends Ctrl-C to all of them. Who started them says what there is to say.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import parent_process

INTERRUPTED = 130
"""Exit status after Ctrl-C."""
MOMENT = 0.3
"""Seconds in which Ctrl-C has reached all processes."""


@contextmanager
def starting() -> Iterator[None]:
    """Processes that are started in this block are deaf to Ctrl-C until they call ``helps``."""
    if not hasattr(
        signal, "pthread_sigmask"
    ):  # a system without: what they import may be interrupted, with words
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def helps() -> None:
    """To be called first in a process that helps: Ctrl-C ends it at once, and so does the end of its parent."""
    at_ctrl_c(lambda: os._exit(INTERRUPTED))
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_the_parent()


def end_with_the_parent() -> None:
    """To be called first in a process of a pool, which waits for work for ever where its parent was killed."""
    threading.Thread(target=_die_with_the_parent, daemon=True).start()


def at_ctrl_c(do: Callable[[], object]) -> None:
    """What Ctrl-C does from now on; nothing where it is ignored, as by whatever a script runs in the background."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: do())


def mourn() -> None:
    """To be called where a process that helps has died: if it was by Ctrl-C, so are we, if a moment later."""
    time.sleep(MOMENT)


def _die_with_the_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
