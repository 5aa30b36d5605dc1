"""Does the server lose, mix up or slow down anything under load? 64 clients for a minute, on loopback.

    python benchmarks/serving.py                         # the bundled model; where there is none, random weights
    python benchmarks/serving.py --model FOLDER --engine native
    python benchmarks/serving.py --random --width 128

The server is a process of its own; this one is the clients. Three runs: 64 clients with shared iterations, 64 clients
of a server that handles one text at a time (--rows 1, and then an operation may use all cores), and a single client of
that. Every client sends texts of its own, a part of them with a number that must survive: an answer without its number,
or with another's, would be somebody else's. The others have answers that are known before the server is started.
Random weights never agree with themselves, so there every text takes all the iterations allowed.

Ends with a verdict, and with status 1 where a request was lost or mixed up, the memory grew, or one by one was more
than a third as fast.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

WORDS = (
    "a", "the", "dog", "cat", "child", "stone", "river", "old", "warm", "red", "runs", "sleeps", "sings", "over",
    "under", "beside", "snow", "grass", "house", "and",
)  # fmt: skip

DEFAULT = "levt-en-de"
RATIO = 1.2
"""No output is much longer than its source, as with a model that has learnt something."""


def sentence(random_: random.Random) -> str:
    return " ".join(random_.choice(WORDS) for _ in range(random_.randint(5, 18))).capitalize() + "."


def random_model(folder: Path, width: int = 256) -> Path:
    """A network that has learnt nothing."""
    from levt.policy.build import build
    from levt.policy.card import Card
    from levt.policy.config import LevTConfig
    from levt.policy.folder import Tokenizers, save_folder
    from levt.text.tokenizer import Tokenizer

    random_ = random.Random(1)
    tokenizers = Tokenizers.joint(Tokenizer.train([sentence(random_) for _ in range(500)], 500))
    torch.manual_seed(1)
    size = tokenizers.target.size
    config = LevTConfig(
        source_vocabulary=size, target_vocabulary=size, width=width, hidden=4 * width, heads=4, encoder_layers=4,
        decoder_layers=4, max_count=32, max_length=256,
    )  # fmt: skip
    save_folder(folder, build(config).eval(), tokenizers, Card(name="random"))
    return folder


@dataclass
class Tally:
    """What the clients saw."""

    seconds: list[float] = field(default_factory=list)
    sent: int = 0
    failed: int = 0
    mixed: int = 0
    different: int = 0

    def percentile(self, share: float) -> float:
        """The time within which this share of the answers came."""
        return sorted(self.seconds)[min(int(share * len(self.seconds)), len(self.seconds) - 1)]


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: Any
) -> tuple[int, Any]:
    """One request on an open connection."""
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    writer.write(head.encode() + content)
    status = int((await reader.readline()).split()[1])
    length = 0
    while line := (await reader.readline()).strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return status, json.loads(await reader.readexactly(length))


async def client(
    port: int, number: int, until: float, known: dict[str, str], iterations: int, tally: Tally
) -> None:
    random_ = random.Random(number)
    texts = sorted(known)
    options = {"max_iterations": iterations, "max_ratio": RATIO}
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    turn = 0
    while time.monotonic() < until:
        turn += 1
        mark = str(10_000_000 + number * 10_000 + turn)
        if turn % 4 == 0:
            body = {"text": sentence(random_), "draft": mark, "keep": [mark], "options": options}
            path, text = "/v1/refine", ""
        else:
            text = random_.choice(texts)
            path, body = "/v1/translate", {"text": text, "options": options}
        began = time.monotonic()
        tally.sent += 1
        try:
            status, answer = await ask(reader, writer, path, body)
        except (OSError, ValueError, IndexError, asyncio.IncompleteReadError):
            tally.failed += 1
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        tally.seconds.append(time.monotonic() - began)
        if status != 200:
            tally.failed += 1
        elif text:
            found = answer["results"][0]["text"]
            # In the last bit a sum may depend on the batch, and random weights have near ties: then one word differs.
            tally.different += found != known[text]
            tally.mixed += (
                any(found == other and text != one for one, other in known.items()) and found != known[text]
            )
        else:
            tally.mixed += mark not in answer["results"][0]["text"].replace(" ", "")
    writer.close()


@contextmanager
def server(folder: str, *flags: str) -> Iterator[tuple[int, int]]:
    """A server of its own process: port and process id."""
    command = [sys.executable, "-m", "levt", "serve", folder, "--port", "0", "--device", "cpu", *flags]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        if "listens on" not in line:
            sys.exit(line + process.stderr.read())
        yield int(line.split()[3].rsplit(":", 1)[1]), process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def resident(pid: int) -> float:
    """MiB of a process in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


def used(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load(
    port: int, pid: int, clients: int, seconds: float, known: dict[str, str], iterations: int
) -> tuple[Tally, float, list[float]]:
    """All clients at once; gives what they saw, how long it took, and the memory each second."""
    tally, memory = Tally(), []
    began = time.monotonic()
    work = [
        asyncio.create_task(client(port, i, began + seconds, known, iterations, tally))
        for i in range(clients)
    ]
    while not all(task.done() for task in work):
        memory.append(resident(pid))
        await asyncio.wait(work, timeout=1)
    await asyncio.gather(*work)
    return tally, time.monotonic() - began, memory


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT, help="name of a bundled model, or a folder")
    parser.add_argument("--random", action="store_true", help="a small network with random weights instead")
    parser.add_argument("--width", type=int, default=256, help="of the random network, with 4 + 4 layers")
    parser.add_argument("--engine", default="torch")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--iterations", type=int, help="at most; by default 10, and 3 with random weights")
    parser.add_argument(
        "--texts", type=int, default=100, help="different texts whose answers are known before"
    )
    args = parser.parse_args()

    import levt
    from levt.policy.hub import bundled

    made_up = args.random or (args.model == DEFAULT and DEFAULT not in bundled())
    iterations = args.iterations or (3 if made_up else 10)
    with tempfile.TemporaryDirectory() as scratch:
        folder = str(random_model(Path(scratch) / "random", args.width)) if made_up else args.model
        random_ = random.Random(2)
        texts = [sentence(random_) for _ in range(args.texts)]
        model = levt.load(folder, device="cpu", engine=args.engine)
        results = model.translate(texts, max_iterations=iterations, max_ratio=RATIO)
        known = {text: result.text for text, result in zip(texts, results, strict=True)}
        del model
        print(f"levt {levt.__version__}, torch {torch.__version__}, Python {platform.python_version()}, "
              f"engine {args.engine}, {f'random, width {args.width}' if made_up else args.model}, "
              f"at most {iterations} iterations")  # fmt: skip
        # Others on the machine take their share from both sides, but not the same; 0.0 is a machine of one's own.
        print(f"{os.cpu_count()} cores, load before the first request {os.getloadavg()[0]:.1f}")
        print("\n| server | clients | requests/s | per CPU second | p50 ms | p95 ms | sent | failed "
              "| mixed up | one word off |")  # fmt: skip
        print("|---|---|---|---|---|---|---|---|---|---|")
        rates, wrong = {}, list[str]()
        for name, flags, clients, seconds in (
            ("shared iterations", (), args.clients, args.seconds),
            ("one by one", ("--rows", "1"), args.clients, args.seconds / 3),
            ("one by one", ("--rows", "1"), 1, args.seconds / 6),
        ):
            with server(folder, "--engine", args.engine, *flags) as (port, pid):
                # The first requests warm it up and are not counted.
                asyncio.run(load(port, pid, clients, 3, known, iterations))
                before = used(pid)
                tally, took, memory = asyncio.run(load(port, pid, clients, seconds, known, iterations))
                work = used(pid) - before
            rates[name, clients] = (len(tally.seconds) / took, len(tally.seconds) / work)
            rate, per_cpu = rates[name, clients]
            print(f"| {name} | {clients} | {rate:.1f} | {per_cpu:.1f} | {1e3 * tally.percentile(0.5):.0f} "
                  f"| {1e3 * tally.percentile(0.95):.0f} | {tally.sent} | {tally.failed} | {tally.mixed} "
                  f"| {tally.different} |", flush=True)  # fmt: skip
            if tally.failed or tally.mixed or tally.sent != len(tally.seconds):
                wrong.append(f"{name} with {clients} clients lost or mixed up requests")
            if name == "shared iterations":
                kept = memory
        quarters = [kept[round(share * (len(kept) - 1))] for share in (0, 0.25, 0.5, 0.75, 1)]
        print("\nMiB of the server at the beginning, after each quarter and at the end: "
              f"{', '.join(f'{one:.0f}' for one in quarters)}")  # fmt: skip
        # What is allocated on the way to full load is there after a quarter.
        if quarters[-1] > 1.05 * quarters[1]:
            wrong.append("the memory of the server grew")
        shared = rates["shared iterations", args.clients]
        for (name, clients), other in rates.items():
            if name != "shared iterations":
                print(f"shared iterations against {name} with {clients} clients: {shared[0] / other[0]:.1f}× requests "
                      f"per second, {shared[1] / other[1]:.1f}× per second of processor time")  # fmt: skip
                if shared[0] < 3 * other[0]:
                    wrong.append(f"not three times as fast as {name} with {clients} clients")
        print(
            f"verdict: {'; '.join(wrong) or 'nothing lost, nothing mixed up, three times as fast, memory flat'}"
        )
        if wrong:
            sys.exit(1)


if __name__ == "__main__":
    main()
