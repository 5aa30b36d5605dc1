"""One thread a process; tests marked ``gpu`` are skipped, by name, where there is no CUDA device."""

import os

import pytest
import torch

# Threads of one process that wait for each other collapse on a busy machine; the tests have small tensors.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tests start


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))
