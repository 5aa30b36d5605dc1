"""A scripted server on loopback and Debian's Chromium; where that is missing the tests are skipped, by name."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
HERE = Path(__file__).parent

pytest.register_assert_rewrite("browser.page_object")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    needed = [name for name in ("playwright", "fastapi", "uvicorn") if find_spec(name) is None]
    needed += [] if CHROMIUM.exists() else [str(CHROMIUM)]
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("browser") and needed:
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(needed)}"))


# Playwright keeps an event loop in this thread, so it ends with this folder's tests.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


def listening() -> socket.socket:
    place = socket.socket()
    place.bind(("127.0.0.1", 0))
    place.listen(64)
    return place


def serve(app: Any) -> Iterator[str]:
    """The address of an application that runs in a thread."""
    import uvicorn

    place = listening()
    runner = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    while not runner.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{place.getsockname()[1]}"
    runner.should_exit = runner.force_exit = True
    thread.join(timeout=5)
    place.close()


@pytest.fixture(scope="package")
def served() -> Iterator[tuple[str, Any]]:
    from browser.scripted_server import ScriptedServer, build

    server = ScriptedServer()
    for address in serve(build(server)):
        yield address, server


@pytest.fixture
def server(served: tuple[str, Any]) -> Iterator[Any]:
    """The scripted server, without trouble."""
    server = served[1]
    server.asked.clear()
    yield server
    server.token, server.pause = None, 0.0
    server.trouble.clear()


@pytest.fixture(scope="package")
def profile(chromium: Any) -> Iterator[Any]:
    """A browser profile that has the editor's files at hand; each tab has a memory of its own."""
    from browser.page_object import new_profile

    tabs = new_profile(chromium)
    yield tabs
    tabs.close()


@pytest.fixture
def editor(profile: Any, served: tuple[str, Any], server: Any) -> Iterator[Any]:
    """The editor in a fresh tab, without motion; nothing may go wrong in the page, nothing go elsewhere."""
    from browser.page_object import open_editor

    yield from open_editor(profile, served[0])


@pytest.fixture
def moving(profile: Any, served: tuple[str, Any], server: Any) -> Iterator[Any]:
    """The editor with its motion."""
    from browser.page_object import open_editor

    yield from open_editor(profile, served[0], motion="no-preference")
