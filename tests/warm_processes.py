"""Processes that begin with everything imported: forked from a server that has done nothing but import.

A command that is killed and started a dozen times, or by four processes at once, would spend its time on
``import torch`` otherwise. What is to run must be a function of a module, with arguments that can be pickled.
"""

import faulthandler
import multiprocessing
import os
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

import torch
import torch.distributed as dist
from safetensors.torch import load, save

Found = dict[str, torch.Tensor]

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["pytest", "levt.cli.train", "levt.recipes.experiment", "levt.training.sharded",
     "levt.training.sharded_checkpoint", "sacrebleu", "torch.distributed.launcher.api"]
)  # fmt: skip


def begin(work: Callable[..., Any], *args: Any) -> ForkServerProcess:
    """Start one process."""
    process = CONTEXT.Process(target=_alone, args=(work, args))
    process.start()
    return process


def _alone(work: Callable[..., Any], args: tuple[Any, ...]) -> None:
    torch.set_num_threads(1)
    work(*args)


def together(
    work: Callable[..., Found], size: int, *args: Any, timeout: float = 120, **env: str
) -> list[Found]:
    """What a function gives in each of so many processes that find each other as under torchrun."""
    # The store is here already, as that of torchrun's agent: no port can be lost to somebody else.
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    shared = {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "WORLD_SIZE": str(size),
        "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0", **env,
    }  # fmt: skip
    started: list[tuple[ForkServerProcess, Connection]] = []
    for rank in range(size):
        here, there = CONTEXT.Pipe()
        own = {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        process = CONTEXT.Process(target=_member, args=(own, there, work, args))
        process.start()
        there.close()
        started.append((process, here))
    end = time.monotonic() + timeout
    try:
        said = [_answer(process, here, end) for process, here in started]
    finally:
        for process, here in started:
            process.kill()
            process.join()
            here.close()
    wrong = [text for good, text in said if not good]
    assert not wrong, "\n".join(str(text) for text in wrong)
    return [load(data) for _, data in said]


def _answer(process: ForkServerProcess, here: Connection, end: float) -> tuple[bool, Any]:
    try:
        return here.recv() if here.poll(max(0.0, end - time.monotonic())) else (False, "no answer in time")
    except EOFError:
        process.join(10)
        return False, f"died with {process.exitcode}"


def _member(
    env: dict[str, str], answer: Connection, work: Callable[..., Found], args: tuple[Any, ...]
) -> None:
    os.environ.update(env)
    faulthandler.enable()  # should a library crash, then with the place where Python was
    torch.set_num_threads(1)
    try:
        found = work(*args)
        if dist.is_initialized():
            dist.destroy_process_group()
        answer.send((True, save({name: tensor.contiguous() for name, tensor in found.items()})))
    except BaseException:
        answer.send((False, traceback.format_exc()))
