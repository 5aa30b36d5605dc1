"""A real server on loopback, in a thread of the test, on a port that the system chooses."""

import faulthandler
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from levt.engine.batching import Budget
from levt.engine.model import Model
from levt.serving import schema
from levt.serving.app import create_app
from levt.serving.limits import Limits
from levt.serving.problems import STATUS
from levt.serving.server import address_of, listen, make_server
from levt.serving.service import Service
from tiny_models import tiny

STATE = {"tokens": [300, 301]}
PLACE = {"text": "a", "tokens": [300], "start": 0, "end": 1}


class Live:
    """A server that is running."""

    def __init__(self, service: Service, address: str, stop: Any) -> None:
        self.service, self.address, self.stop = service, address, stop
        self.model = Model(service.engine)

    def client(self, **more: Any) -> httpx.Client:
        # There is nothing to verify, and it takes long to get ready for it.
        return httpx.Client(base_url=self.address, timeout=60, trust_env=False, verify=False, **more)


@contextmanager
def serving(
    model: Model | None = None, limits: Limits | None = None, budget: Budget | None = None, **more: Any
) -> Iterator[Live]:
    """Run a server with a tiny model for a while; it ends by itself, having answered all."""
    # With these limits everything must be over long before the end is waited for in vain.
    service = Service(model or tiny(seed=3), "tiny", limits or Limits(seconds=30.0), budget)
    begun = threading.Event()
    with listen("127.0.0.1", 0) as listening:
        server = make_server(create_app(service, **more), begun=begun.set)

        def stop() -> None:
            server.should_exit = True

        thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
        thread.start()
        try:
            assert begun.wait(30)
            yield Live(service, address_of(listening), stop)
        finally:
            stop()
            thread.join(60)
            if thread.is_alive():
                faulthandler.dump_traceback()
            assert not thread.is_alive(), [vars(one) for one in server.server_state.connections]
            assert not service.worker.alive


@contextmanager
def spawned(model: str | None, *flags: str) -> Iterator[str]:
    """Run `levt serve` as a process of its own; gives its address, and ends it as a person would."""
    named = [] if model is None else [model]
    command = [sys.executable, "-m", "levt", "serve", *named, "--port", "0", "--device", "cpu", *flags]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert line.startswith("levt listens on http://127.0.0.1:"), line + process.stderr.read()
        yield line.split()[3]
        assert process.poll() is None, "the server has ended by itself"
    finally:
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    # What was no HTTP is noted; nothing else is.
    assert [line for line in rest.splitlines() if "Invalid HTTP request" not in line] == []
    assert process.returncode == 0


def refused(response: httpx.Response) -> str:
    """The type of an error, whose form and status are as promised."""
    found = response.json()
    schema.ErrorBody.model_validate(found)
    assert set(found) == {"error"}
    assert response.status_code == STATUS[found["error"]["type"]]
    assert "Traceback" not in response.text
    kind: str = found["error"]["type"]
    return kind
