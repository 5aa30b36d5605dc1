"""``levt demo``: what levt does, on this machine, now."""

from pathlib import Path

from levt.cli._flags import Flag, Maybe


def demo(
    out: Maybe[Path] = None,
    steps: Maybe[int] = None,
    typos: Flag = False,
    json: Flag = False,
    html: Maybe[Path] = None,
) -> None:
    """Show what levt does: translate and repair with the bundled model or, without one, learn to repair typing errors.

    Example: levt demo --typos --html edits.html

    Args:
        out: Typing errors: keep the model and its run in this folder; run it again to go on or to use it at once.
        steps: Typing errors: train for so many steps instead of those of the recipe typo-repair.
        typos: Learn to repair typing errors, in about a minute, even where a model is bundled.
        json: Print the results as JSON, one per line, instead of coloured text.
        html: Also write the edits to this file, as a page for the browser.
    """
    from levt.cli._demo_bundled import demo_bundled
    from levt.cli._demo_typos import demo_typos
    from levt.cli._model import DEFAULT
    from levt.errors import InputError
    from levt.policy.hub import bundled

    if html is not None and (html.is_dir() or not html.absolute().parent.is_dir()):
        what = "it is a folder" if html.is_dir() else f"there is no folder {html.parent}"
        raise InputError(f"cannot write {html}: {what}", hint="name a file in an existing folder")
    if typos or out is not None or steps is not None or DEFAULT not in bundled():
        demo_typos(out, steps, json=json, html=html)
    else:
        demo_bundled(json=json, html=html)
