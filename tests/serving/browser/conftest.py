"""A scripted server on loopback and Debian's Chromium; where that is missing the tests are skipped, by name."""

import os
import threading
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


def serve(app: Any) -> Iterator[str]:
    """The address of an application that runs in a thread, and ends as the real server does."""
    import uvicorn

    from levt.serving.connection import limited
    from levt.serving.limits import Limits
    from levt.serving.server import Server, address_of, listen

    begun = threading.Event()
    with listen("127.0.0.1", 0) as place:
        config = uvicorn.Config(app, http=limited(Limits()), log_level="warning", lifespan="off")
        runner = Server(config, begun.set)
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [place]})
        thread.start()
        try:
            assert begun.wait(60)
            yield address_of(place)
        finally:
            runner.should_exit = True
            thread.join(60)
            assert not thread.is_alive()


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
    server.name, server.token, server.pause, server.mood = "scripted", None, 0.0, None
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


@pytest.fixture(scope="package")
def real_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`levt serve` with the bundled model, or with a tiny one."""
    from browser.real_editor import real_server

    with real_server(tmp_path_factory.mktemp("real")) as address:
        yield address


@pytest.fixture
def real(profile: Any, real_address: str) -> Iterator[Any]:
    """The editor of a real server, without motion."""
    from browser.page_object import open_editor

    yield from open_editor(profile, real_address)


@pytest.fixture
def moving(profile: Any, served: tuple[str, Any], server: Any) -> Iterator[Any]:
    """The editor with its motion."""
    from browser.page_object import open_editor

    yield from open_editor(profile, served[0], motion="no-preference")
