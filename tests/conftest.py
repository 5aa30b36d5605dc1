"""One thread a process, no test against the clock.

Tests marked ``gpu`` are skipped, by name, where there is no CUDA device.
Tests marked ``fault`` make the table of faults when they are asked to: see ``fault_table``.
"""

import os

import pytest
import torch
from hypothesis import settings

from fault_table import Fault, write_page

# Threads of one process that wait for each other collapse on a busy machine; the tests have small tensors.
torch.set_num_threads(1)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tests start

# Machines are noisy: how long an example takes decides nothing.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

collect_ignore_glob = ["*conftest.py"]  # no doctests there, and several folders may each have one


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not torch.cuda.is_available():
        for item in items:
            if item.get_closest_marker("gpu"):
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-faults", action="store_true", help="write docs/faults.md")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "fault(what, when, outcome): breaks something; a row of docs/faults.md"
    )
    config.stash[PASSED] = set()


PASSED = pytest.StashKey[set[Fault]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = yield
    for mark in item.iter_markers("fault") if call.when == "call" else ():
        # With -n this travels to the process that writes the page.
        report.user_properties.append(("fault", list(mark.args)))
    return report


class Collector:
    """Notes the faults of the tests that passed, wherever they ran."""

    def __init__(self, passed: set[Fault]) -> None:
        self.passed = passed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.update(Fault(*value) for name, value in report.user_properties if name == "fault")


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(Collector(session.config.stash[PASSED]), "faults")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--write-faults", False) and not hasattr(session.config, "workerinput"):
        write_page(session.config.stash[PASSED])
