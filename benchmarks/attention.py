"""How fast is attention between packed rows? Our kernels beside torch's for rows of any length.

    python benchmarks/attention.py         # needs a GPU

Lengths are drawn from a geometric law around each mean and cut at the longest, which one row has. A step forward and
back over 12,288 tokens, 4 heads of 64, is timed on the device, without the host; before that both must give what padded
rows give in single precision.
"""

import torch
from torch import Tensor

from levt.policy import short_attention
from levt.policy.attention import PackedPattern
from levt.policy.layout import Packed

TEXTS = {
    "captions": (15, 50),
    "software": (13, 241),
    "parliament": (34, 199),
    "articles": (60, 300),
    "letters": (80, 400),
    "documents": (120, 500),
    "books": (300, 500),
}
HEADS, HEAD, TOKENS = 4, 64, 12_288


def rows(mean: int, longest: int) -> Packed:
    """Rows of one kind of text that fill the tokens of a step."""
    draw = torch.Generator().manual_seed(0)
    lengths = [longest]
    while True:
        length = int(torch.empty(()).geometric_(1 / mean, generator=draw).clamp(2, longest))
        if sum(lengths) + length > TOKENS:
            return Packed.of(torch.tensor(lengths).cuda(), TOKENS, longest)
        lengths.append(length)


def step(look: PackedPattern, fused: Tensor, slope: Tensor) -> tuple[Tensor, Tensor]:
    """Output and gradient of one step, and whatever was in memory at places in no row."""
    fused.grad = None
    out = look.attend(*fused.unbind(1))
    out.backward(slope)
    assert fused.grad is not None
    return out.detach(), fused.grad


def milliseconds(look: PackedPattern, fused: Tensor, slope: Tensor, repeats: int = 50) -> float:
    """The median time of a step on the device."""
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(20_000_000)  # so that the host is ahead and its own time does not count
        begin.record()
        step(look, fused, slope)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return sorted(times)[repeats // 2]


def main() -> None:
    """One line for each kind of text."""
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {TOKENS:,} tokens, {HEADS} heads of {HEAD}"
    )
    print(
        f"{'':12}{'mean':>6}{'longest':>9}{'ours ms':>10}{'torch ms':>10}{'times':>8}{'furthest from exact':>24}"
    )
    limit = short_attention.LONGEST
    for name, (mean, longest) in TEXTS.items():
        layout = rows(mean, longest)
        fused = torch.randn(TOKENS, 3, HEADS, HEAD, device="cuda").bfloat16()
        slope = layout.clean(torch.randn(TOKENS, HEADS, HEAD, device="cuda")).bfloat16()
        exact = step(
            PackedPattern(layout, layout), layout.clean(fused.float()).requires_grad_(), slope.float()
        )
        fused = layout.clean(fused).requires_grad_()
        found, far = [], []
        for short_attention.LONGEST in (longest, 0):
            look = PackedPattern(layout, layout)
            near = step(look, fused, slope)
            pairs = zip(near, exact, strict=True)
            far.append(
                max((a - b).abs().max().item() for a, b in [map(layout.clean, pair) for pair in pairs])
            )
            found.append(milliseconds(look, fused, slope))
        short_attention.LONGEST = limit
        print(
            f"{name:12}{mean:6}{longest:9}{found[0]:10.3f}{found[1]:10.3f}{found[1] / found[0]:8.2f}"
            f"{far[0]:12.4f}{far[1]:12.4f}"
        )


if __name__ == "__main__":
    main()
