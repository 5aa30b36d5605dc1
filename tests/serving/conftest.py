"""One server for all tests that leave it as it was."""

from collections.abc import Iterator

import httpx
import pytest
from live import Live, serving


@pytest.fixture(scope="session")
def live() -> Iterator[Live]:
    with serving() as running:
        yield running


@pytest.fixture
def client(live: Live) -> Iterator[httpx.Client]:
    with live.client() as found:
        yield found
