"""``levt translate``: sources on stdin, targets on stdout, one per line."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from levt.cli._model import DEFAULT

if TYPE_CHECKING:
    from levt.engine.result import Result


def translate(
    model: str = DEFAULT,
    json: bool = False,
    keep: tuple[str, ...] = (),
    terms: Path | None = None,
    ordered: bool = False,
    drop: tuple[str, ...] = (),
    batch_size: int = 64,
    engine: str = "torch",
    device: str | None = None,
    dtype: str | None = None,
    max_iterations: int | None = None,
    empty_gap_penalty: float | None = None,
    teacher: str | None = None,
    beam: int | None = None,
    n_best: int | None = None,
    length_penalty: float | None = None,
    length_beam: int | None = None,
    server: str | None = None,
    token_file: Path | None = None,
) -> None:
    """Translate standard input, line by line, to standard output.

    Args:
        model: Name of a bundled model, a model folder, or an id of the hub (user/name).
        json: Write one JSON object per line, with every edit and its probability.
        keep: Words that stay as they are: where a source holds one, its translation does, too.
        terms: File with one line per line of the input: the terms that must appear, between tabs or semicolons.
        ordered: The terms must appear in the order given.
        drop: Words that must not appear.
        batch_size: Most lines that go through the model together; changes speed and memory, never a result.
        engine: What runs the model.
        device: cpu, cuda or cuda:N; by default a GPU where there is one.
        dtype: float32, bfloat16 or float16; by default bfloat16 on a GPU, float32 elsewhere.
        max_iterations: Stop after this many iterations (10).
        empty_gap_penalty: γ of the paper, 0 to 3: larger makes longer texts (0).
        teacher: An autoregressive model that chooses among several candidates.
        beam: Hypotheses kept, for models that write from left to right (4).
        n_best: How many of them go into the JSON (1).
        length_penalty: α of the search, for models that write from left to right (1.0).
        length_beam: Lengths tried side by side, for masked models (5).
        server: Address of a `levt serve` that does the work, http://HOST:PORT; its own model is used.
        token_file: File with the bearer token that the server asks for.
    """
    if server is not None:
        from levt.cli._remote import translate_remotely

        elsewhere = {"engine": engine if engine != "torch" else None, "device": device, "dtype": dtype,
                     "teacher": teacher, "beam": beam, "n_best": n_best, "length_penalty": length_penalty,
                     "length_beam": length_beam}  # fmt: skip
        translate_remotely(
            server, token_file, model=None if model == DEFAULT else model, json=json, keep=keep, terms=terms,
            ordered=ordered, drop=drop, batch_size=batch_size, max_iterations=max_iterations,
            empty_gap_penalty=empty_gap_penalty, elsewhere=elsewhere,
        )  # fmt: skip
        return
    from levt.cli._lines import Beside, json_line, one_line, respond
    from levt.cli._model import given, open_model

    loaded = open_model(model, engine=engine, device=device, dtype=dtype, batch_size=batch_size)
    settings = given(
        max_iterations=max_iterations,
        empty_gap_penalty=empty_gap_penalty,
        beam=beam,
        n_best=n_best,
        length_penalty=length_penalty,
        length_beam=length_beam,
    )
    beside = Beside(terms)
    judge = None
    if teacher is not None:
        judge = open_model(teacher, engine="torch", device=device, dtype=dtype, batch_size=batch_size)

    def answer(texts: Iterable[str]) -> "Iterator[Result]":
        if loaded.kind != "levt" and not (keep or terms or drop or ordered or judge):
            return loaded.translate_stream(texts, **settings)
        from levt.engine.settings import taken
        from levt.refine.options import Options
        from levt.refine.places import whole
        from levt.refine.wish import Wish

        options = taken(Options, settings, kind=loaded.kind)
        wishes = (
            Wish(
                source=text,
                terms=tuple(word for word in keep if whole(text, word)) + terms_of(beside.next()),
                ordered=ordered,
                drop=drop,
                options=options,
            )
            for text in texts
        )
        return loaded.run(wishes, teacher=judge)

    respond(
        answer,
        json_line if json else lambda result: one_line(result.text),
        most=4 * batch_size,
        beside=[beside],
    )


def terms_of(line: str) -> tuple[str, ...]:
    """The terms of a line, between tabs or semicolons.

    >>> terms_of("ein Hund; Schnee\\t")
    ('ein Hund', 'Schnee')
    """
    return tuple(term.strip() for term in re.split(r"[\t;]", line) if term.strip())
