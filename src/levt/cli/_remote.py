"""``levt translate --server``: the same lines, by a server. Knows no model."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from levt.serving.batches import Remote


def translate_remotely(
    server: str,
    token_file: Path | None,
    *,
    model: str | None,
    json: bool,
    keep: tuple[str, ...],
    terms: Path | None,
    ordered: bool,
    drop: tuple[str, ...],
    batch_size: int,
    max_iterations: int | None,
    empty_gap_penalty: float | None,
    whole: bool,
    elsewhere: dict[str, Any],
) -> None:
    """Translate standard input by a server; what is ``elsewhere`` for the server to decide must not be given."""
    from levt.cli._lines import Beside, json_line, one_line, respond
    from levt.cli._model import given
    from levt.cli.serve import read_token
    from levt.data.terms import terms_of
    from levt.errors import ConfigError
    from levt.refine.places import whole as whole_words
    from levt.serving.batches import Batches, Item
    from levt.serving.client import Client

    if taken := given(**elsewhere):
        flag = next(iter(taken)).replace("_", "-")
        raise ConfigError(
            f"--{flag} is not for a server: it runs its own model", hint=f"leave out --{flag}, or --server"
        )
    options = given(
        max_iterations=max_iterations,
        empty_gap_penalty=empty_gap_penalty,
        by_sentence=None if whole else True,
    )
    settings: dict[str, Any] = given(model=model, options=options or None)
    settings |= {"ordered": ordered, "trace": json} | ({"drop": list(drop)} if drop else {})
    token = None if token_file is None else read_token(token_file)
    beside = Beside(terms)
    with Client(server, token=token) as client:
        batches = Batches(client, settings, size=batch_size)

        def answer(texts: Iterable[str]) -> "Iterator[Remote]":
            return batches.translate(
                Item(
                    text=text,
                    terms=tuple(word for word in keep if whole_words(text, word)) + terms_of(beside.next()),
                )
                for text in texts
            )

        respond(
            answer,
            json_line if json else lambda result: one_line(result.text),
            most=16 * batch_size,
            beside=[beside],
        )
