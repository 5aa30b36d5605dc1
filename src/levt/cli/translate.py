"""``levt translate``: sources on stdin, targets on stdout, one per line."""

from pathlib import Path

import tyro

from levt.cli._flags import Flag, Many, Maybe
from levt.cli._model import DEFAULT
from levt.cli._shards import Folders

STREAMS = Folders()


def translate(
    model: Maybe[str] = None,
    json: Flag = False,
    keep: Many[str] = (),
    terms: Maybe[Path] = None,
    ordered: Flag = False,
    drop: Many[str] = (),
    whole: Flag = False,
    batch_size: int = 64,
    engine: str = "auto",
    device: Maybe[str] = None,
    dtype: Maybe[str] = None,
    max_iterations: Maybe[int] = None,
    empty_gap_penalty: Maybe[float] = None,
    teacher: Maybe[str] = None,
    beam: Maybe[int] = None,
    n_best: Maybe[int] = None,
    length_penalty: Maybe[float] = None,
    length_beam: Maybe[int] = None,
    server: Maybe[str] = None,
    token_file: Maybe[Path] = None,
    folders: tyro.conf.OmitArgPrefixes[Folders] = STREAMS,
) -> None:
    """Translate standard input, line by line, to standard output.

    Example: levt translate < en.txt > de.txt

    With --input and --output, shards: levt translate --input corpus/en --output corpus/de --processes 4

    Args:
        model: Name of a bundled model (levt-en-de), a model folder, or an id of the hub (user/name).
        json: Write one JSON object per line, with every edit and its probability.
        keep: Words that stay as they are: where a source holds one, its translation does, too.
        terms: File with one line per line of the input: the terms that must appear, between tabs or semicolons.
        ordered: The terms must appear in the order given.
        drop: Words that must not appear.
        whole: Read a line of several sentences whole; by default each is translated by itself, unless it has terms.
        batch_size: Most lines that go through the model together; changes speed and memory, never a result.
        engine: torch, cuda, onnx, onnx-int8 or native; auto: the fastest exact one; ray, ray:NAME: a cluster.
        device: cpu, cuda or cuda:N; by default a GPU where there is one.
        dtype: float32, bfloat16, float16 or int8; by default bfloat16 on a GPU, int8 with native, float32 elsewhere.
        max_iterations: Stop after this many iterations (10).
        empty_gap_penalty: γ of the paper, 0 to 3: larger makes longer texts (0).
        teacher: An autoregressive model that chooses among several candidates; by default none.
        beam: Hypotheses kept, for models that write from left to right (4).
        n_best: How many of them go into the JSON (1).
        length_penalty: α of the search, for models that write from left to right (1.0).
        length_beam: Lengths tried side by side, for masked models (5).
        server: Address of a `levt serve` that does the work, http://HOST:PORT; its own model is used.
        token_file: File with the bearer token that the server asks for.
        folders: Shards instead of standard input and output.
    """
    if server is not None:
        from levt.cli._answer import check_wishes
        from levt.cli._remote import translate_remotely

        check_wishes("translate", ordered=ordered, terms=terms, keep=keep, drop=drop)
        elsewhere = {"engine": engine if engine != "auto" else None, "device": device, "dtype": dtype,
                     "teacher": teacher, "beam": beam, "n_best": n_best, "length_penalty": length_penalty,
                     "length_beam": length_beam, "input": folders.input or None,
                     "output": folders.output, "shard_lines": folders.shard_lines, "processes": folders.processes,
                     "ray-address": folders.ray_address,
                     "skip_broken": folders.skip_broken or None}  # fmt: skip
        translate_remotely(
            server, token_file, model=model, json=json, keep=keep, terms=terms,
            ordered=ordered, drop=drop, batch_size=batch_size, max_iterations=max_iterations,
            empty_gap_penalty=empty_gap_penalty, whole=whole, elsewhere=elsewhere,
        )  # fmt: skip
        return
    from levt.cli._answer import answer
    from levt.errors import ConfigError

    if token_file is not None:
        raise ConfigError("--token-file is for a server", hint="--server http://HOST:PORT")

    answer(
        "translate",
        settings={
            "by_sentence": not whole,
            "max_iterations": max_iterations,
            "empty_gap_penalty": empty_gap_penalty,
            "beam": beam,
            "n_best": n_best,
            "length_penalty": length_penalty,
            "length_beam": length_beam,
        },
        model=DEFAULT if model is None else model,
        engine=engine,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        teacher=teacher,
        keep=keep,
        drop=drop,
        terms=terms,
        ordered=ordered,
        draft=None,
        folders=folders,
        json=json,
    )
