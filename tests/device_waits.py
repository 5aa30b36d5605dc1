"""For tests on a GPU: inside, whatever would make the host wait for the device is an error."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def no_waiting() -> Iterator[None]:
    """Whatever happens, the processes of other tests may wait again."""
    with warnings.catch_warnings():
        # Torch says once that this is a prototype; as an error that would leave the mode on.
        warnings.filterwarnings("ignore", message="Synchronization debug mode is a prototype")
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")
