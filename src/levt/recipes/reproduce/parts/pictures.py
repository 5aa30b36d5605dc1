"""Lines over a number, such as quality over the iterations allowed. Needs matplotlib."""

from collections.abc import Mapping
from pathlib import Path

from levt.errors import MissingExtra


def lines(
    series: Mapping[str, Mapping[int, float]], path: Path, *, x: str, y: str, integers: bool = False
) -> None:
    """One named line per series, its points marked; ``integers`` marks every point on the axis."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtra("matplotlib", "eval") from None
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for name, points in series.items():
        axes.plot(list(points), list(points.values()), marker="o", markersize=4, label=name)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if integers:
        axes.set_xticks(sorted({at for points in series.values() for at in points}))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", frameon=False, ncols=min(len(series), 2))  # where no line is
    figure.savefig(path, dpi=110)
