"""``levt show``: the edits of one text, as a picture."""

from pathlib import Path

from levt.cli._flags import Flag, Many, Maybe, Text
from levt.cli._model import DEFAULT


def show(
    text: Text,
    draft: Maybe[str] = None,
    model: str = DEFAULT,
    html: Maybe[Path] = None,
    keep: Many[str] = (),
    drop: Many[str] = (),
    terms: Many[str] = (),
    whole: Flag = False,
    engine: str = "auto",
    device: Maybe[str] = None,
    dtype: Maybe[str] = None,
    max_iterations: Maybe[int] = None,
    empty_gap_penalty: Maybe[float] = None,
    min_edit: Maybe[float] = None,
) -> None:
    """Show how a model translates one text or refines its draft, edit by edit.

    Example: levt show "A dog runs." --draft "Ein Hund schläft." --html edits.html

    Args:
        text: The source.
        draft: A draft of the target to begin with; by default from nothing.
        model: Name of a bundled model, a model folder, or an id of the hub (user/name).
        html: Write a page for the browser to this file instead.
        keep: Parts of the draft that must survive unchanged.
        drop: Words that must not appear.
        terms: Texts that must appear.
        whole: Read a text of several sentences whole; by default each is translated by itself, unless it has terms.
        engine: What runs the model: torch, cuda, onnx, onnx-int8 or native; auto: the fastest exact one.
        device: cpu, cuda or cuda:N; by default a GPU where there is one.
        dtype: float32, bfloat16, float16 or int8; by default bfloat16 on a GPU, int8 with native, float32 elsewhere.
        max_iterations: Stop after this many iterations (10).
        empty_gap_penalty: γ of the paper, 0 to 3: larger makes longer texts (0).
        min_edit: From 0, rewrite freely, to 1, leave alone (0).
    """
    from levt.cli._console import Output
    from levt.cli._model import given, open_model
    from levt.edits.render_html import page, section
    from levt.edits.render_terminal import show as show_trace
    from levt.errors import InputError

    loaded = open_model(model, engine=engine, device=device, dtype=dtype)
    settings = given(
        max_iterations=max_iterations,
        empty_gap_penalty=empty_gap_penalty,
        min_edit=min_edit,
        by_sentence=not whole,
        **{name: value for name, value in (("keep", keep), ("drop", drop), ("terms", terms)) if value},
    )
    result = loaded.refine(text, draft=draft, **settings) if draft else loaded.translate(text, **settings)
    if html is None:
        show_trace(result.trace, Output(highlight=False), iterations=result.iterations)
        return
    try:
        title = result.text or "(empty)"
        shown = section(result.trace, title=title, source=text, iterations=result.iterations)
        html.write_text(page([shown], title="levt: edits of a text"), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write {html}: {error.strerror}", hint="name a file in an existing folder"
        ) from None
