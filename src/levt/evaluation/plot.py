"""The pictures of the paper: quality against time or limits, and when sentences are done. Needs matplotlib."""

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from levt.errors import InputError, MissingExtra, reason

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MARKERS = "osD^vPX*"
"""Of the points of a scatter, so that they differ without colour."""


def _figure(x: str, y: str) -> "tuple[Figure, Axes]":
    """An empty figure with named axes, without pyplot and its global state."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtra("matplotlib", "eval") from None
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: "Figure", path: Path) -> None:
    """Write a figure in the format that the name of the file says."""
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot write {path}: {reason(error)}",
            hint="name a .png, .svg or .pdf file in an existing folder",
        ) from None


def scatter(points: Mapping[str, tuple[float, float]], path: Path, *, x: str, y: str) -> None:
    """One named point per system, such as latency and BLEU."""
    figure, axes = _figure(x, y)
    for (name, (across, up)), marker in zip(points.items(), cycle(MARKERS), strict=False):
        axes.scatter([across], [up], marker=marker, s=48, label=name)
    axes.margins(0.15)
    # Above the axes: names beside points lie on each other where systems are alike.
    figure.legend(loc="outside upper center", frameon=False, ncols=min(len(points), 2))
    _save(figure, path)


def iterations(
    ended: Mapping[int, float], path: Path, *, others: Mapping[str, Mapping[int, float]] | None = None
) -> None:
    """The share of sentences at each number of iterations; of ``others`` by name as well, beside it."""
    figure, axes = _figure("iterations", "sentences, %")
    systems = {"ours": ended, **(others or {})}
    width = 0.8 / len(systems)
    for place, (name, shares) in enumerate(systems.items()):
        shift = (place - (len(systems) - 1) / 2) * width
        axes.bar([n + shift for n in shares], [100 * part for part in shares.values()], width, label=name)
    axes.set_xticks(sorted({number for shares in systems.values() for number in shares}))
    if others:
        figure.legend(loc="outside upper center", frameon=False, ncols=2)
    _save(figure, path)


def lines(
    series: Mapping[str, Mapping[int, float]], path: Path, *, x: str, y: str, ticks: bool = True
) -> None:
    """One named line per system, such as BLEU against the most iterations allowed; ``ticks`` for every point."""
    figure, axes = _figure(x, y)
    for name, points in series.items():
        axes.plot(list(points), list(points.values()), marker="o", markersize=4, label=name)
    if ticks:
        axes.set_xticks(sorted({at for points in series.values() for at in points}))
    # Above the axes, where no line is.
    figure.legend(loc="outside upper center", frameon=False, ncols=min(len(series), 2))
    _save(figure, path)
