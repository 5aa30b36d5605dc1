"""How fast is the oracle? Ours beside a naive dynamic program, rapidfuzz and plain torch.

    python benchmarks/oracle.py            # the CPU (one core), and the GPU where there is one

States are targets with 40 % of the tokens replaced, so the pairs share about as much as in training.
Every version must give the same alignment as the naive one before it is timed.
"""

import os
import platform
import time
from collections.abc import Callable

import torch
from torch import Tensor

from levt.edits.oracle_bits import align_bits
from levt.edits.oracle_reference import align_reference
from levt.edits.oracle_torch import align_torch

SIZES = ((2048, 28), (512, 100))


def pairs(b: int, n: int) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(0)
    target = torch.randint(5, 32000, (b, n), generator=draw)
    noise = torch.randint(5, 32000, (b, n), generator=draw)
    return torch.where(torch.rand(b, n, generator=draw) < 0.4, noise, target), target


def naive(y: Tensor, target: Tensor) -> Tensor:
    return torch.tensor([align_reference(a, b) for a, b in zip(y.tolist(), target.tolist(), strict=True)])


def rapidfuzz(y: Tensor, target: Tensor) -> Tensor:
    """Same rule through rapidfuzz: a different last symbol hides the common suffix from its own tie rule."""
    from rapidfuzz.distance import Indel

    rows = []
    for a, b in zip(y.tolist(), target.tolist(), strict=True):
        row = [-1] * (len(a) + 1)
        for start, to, size in Indel.editops([*a, 1 << 40], [*b, 1 << 41]).as_matching_blocks():
            row[start : start + size] = range(to, to + size)
        rows.append(row[: len(a)])
    return torch.tensor(rows)


def median_ms(call: Callable[[], object], repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def median_ms_cuda(call: Callable[[], object], repeats: int = 200) -> float:
    for _ in range(20):
        call()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return sorted(times)[len(times) // 2]


def main() -> None:
    torch.set_num_threads(1)
    print(
        f"torch {torch.__version__}, {platform.processor() or platform.machine()}, load {os.getloadavg()[0]:.1f}"
    )
    print(f"{'version':<24}" + "".join(f"{f'{b} pairs of {n}':>20}" for b, n in SIZES) + "   (ms)")
    data = [pairs(b, n) for b, n in SIZES]
    expected = [naive(y, target) for y, target in data]

    cpu: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], int]] = {
        "naive, CPU": (naive, 1),
        "rapidfuzz, CPU": (rapidfuzz, 5),
        "torch, CPU": (align_torch, 9),
        "levt bits, CPU": (align_bits, 21),
    }
    for name, (how, repeats) in cpu.items():
        row = []
        for (y, target), right in zip(data, expected, strict=True):
            try:
                assert torch.equal(how(y, target), right), name
            except ModuleNotFoundError:
                break
            row.append(median_ms(lambda h=how, y=y, t=target: h(y, t), repeats))  # type: ignore[misc]
        print(f"{name:<24}" + "".join(f"{ms:>20.2f}" for ms in row))
    if not torch.cuda.is_available():
        return

    from levt.edits.oracle import oracle
    from levt.edits.oracle_triton import align_triton

    print(torch.cuda.get_device_name())
    cuda: dict[str, Callable[[Tensor, Tensor], object]] = {
        "torch, CUDA": align_torch,
        "levt triton, CUDA": align_triton,
        "levt whole oracle, CUDA": oracle,
    }
    for name, call in cuda.items():
        row = []
        for (y, target), right in zip(data, expected, strict=True):
            y_gpu, t_gpu = y.cuda(), target.cuda()
            found = call(y_gpu, t_gpu)
            if isinstance(found, Tensor):
                assert torch.equal(found.cpu(), right), name
            row.append(median_ms_cuda(lambda c=call, y=y_gpu, t=t_gpu: c(y, t)))  # type: ignore[misc]
        print(f"{name:<24}" + "".join(f"{ms:>20.3f}" for ms in row))


if __name__ == "__main__":
    main()
