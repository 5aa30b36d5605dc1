"""``levt`` without its start-up: one process has imported everything and makes a copy of itself for every call.

    python quick_levt.py SOCKET        serves calls
    python -S quick_levt.py SOCKET -- ARGUMENTS …   is a call: same streams, folder, environment and exit status

A page has a dozen commands, and torch alone takes seconds to import; so the commands of a page run in one.
Whoever calls may be killed: the copy that works for it ends then too.
"""

import json
import os
import socket
import sys
from contextlib import suppress

STREAMS = 3


def call(path: str, argv: list[str]) -> int:
    """Hand the call over and wait for its exit status."""
    with socket.socket(socket.AF_UNIX) as wire:
        wire.connect(path)
        request = json.dumps({"argv": argv, "cwd": os.getcwd(), "environ": dict(os.environ)}).encode()
        socket.send_fds(wire, [len(request).to_bytes(8, "big")], [0, 1, 2])
        wire.sendall(request)
        status = wire.recv(1)
    return status[0] if status else 1


def serve(path: str) -> None:
    """Import, then answer until stdin is closed: that is the test's end."""
    import importlib
    import select
    import threading

    for name in ("torch", "levt.engine.model", "levt.engine.torch_engine", "levt.recipes.experiment", "tyro",
                 "sacrebleu", "levt.serving.app", "levt.edits.render_html", "levt.edits.render_terminal"):  # fmt: skip
        importlib.import_module(name)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen()
        print("ready", flush=True)
        while True:
            readable, _, _ = select.select([door, sys.stdin], [], [])
            if sys.stdin in readable:
                os._exit(0)
            wire, _ = door.accept()
            with suppress(ChildProcessError):  # those that are done
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if os.fork():
                wire.close()
                continue
            door.close()
            status = work(wire, threading)
            wire.sendall(bytes([status]))
            os._exit(status)


def work(wire: socket.socket, threading: object) -> int:
    """Be the command that was asked for."""
    head, streams, _, _ = socket.recv_fds(wire, 8, STREAMS)
    request = b""
    while len(request) < int.from_bytes(head, "big"):
        request += wire.recv(1 << 16)
    asked = json.loads(request)
    for stream, given in enumerate(streams):
        os.dup2(given, stream)
        os.close(given)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    sys.stdin, sys.stdout, sys.stderr = (open(i, mode, encoding="utf-8") for i, mode in enumerate("rww"))  # noqa: SIM115
    sys.argv = ["levt", *asked["argv"]]

    def follow() -> None:
        if not wire.recv(1):  # the caller is gone
            os._exit(143)

    threading.Thread(target=follow, daemon=True).start()  # type: ignore[attr-defined]
    from levt.cli import main

    status = 0
    try:
        main(asked["argv"])
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = status or 1
    return status


if __name__ == "__main__":
    if "--" in sys.argv:
        sys.exit(call(sys.argv[1], sys.argv[3:]))
    serve(sys.argv[1])
