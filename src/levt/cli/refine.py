"""``levt refine``: sources on stdin, drafts from a file, better targets on stdout, one per line."""

from pathlib import Path

import tyro

from levt.cli._flags import Flag, Many, Maybe
from levt.cli._model import DEFAULT
from levt.cli._shards import Folders

STREAMS = Folders()


def refine(
    draft: Maybe[Path] = None,
    model: str = DEFAULT,
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
    min_edit: Maybe[float] = None,
    teacher: Maybe[str] = None,
    beam: Maybe[int] = None,
    n_best: Maybe[int] = None,
    length_penalty: Maybe[float] = None,
    folders: tyro.conf.OmitArgPrefixes[Folders] = STREAMS,
) -> None:
    """Improve drafts of the translations of standard input, line by line, to standard output.

    Example: levt refine --draft mt.txt < en.txt > better.txt

    With --input and --output, shards: levt refine --input corpus/en --draft corpus/mt --output corpus/de

    Args:
        draft: File with a draft for each line of the input; for shards a folder too, or left out where they have them.
        model: Name of a bundled model, a model folder, or an id of the hub (user/name).
        json: Write one JSON object per line, with every edit and its probability.
        keep: Texts that survive unchanged in every draft that holds them.
        terms: File with one line per line of the input: the terms that must appear, between tabs or semicolons.
        ordered: The terms must appear in the order given.
        drop: Words that must not appear.
        whole: Read a line of several sentences whole; by default each is refined alone, if the draft has as many.
        batch_size: Most lines that go through the model together; changes speed and memory, never a result.
        engine: torch, cuda, onnx, onnx-int8 or native; auto: the fastest exact one; ray, ray:NAME: a cluster.
        device: cpu, cuda or cuda:N; by default a GPU where there is one.
        dtype: float32, bfloat16, float16 or int8; by default bfloat16 on a GPU, int8 with native, float32 elsewhere.
        max_iterations: Stop after this many iterations (10).
        empty_gap_penalty: γ of the paper, 0 to 3: larger makes longer texts (0).
        min_edit: From 0, rewrite freely, to 1, leave alone (0).
        teacher: An autoregressive model that chooses among several candidates; by default none.
        beam: Hypotheses kept, for a post-editing model (4).
        n_best: How many of them go into the JSON (1).
        length_penalty: α of the search, for a post-editing model (1.0).
        folders: Shards instead of standard input and output.
    """
    from levt.cli._answer import answer

    answer(
        "refine",
        settings={
            "by_sentence": not whole,
            "max_iterations": max_iterations,
            "empty_gap_penalty": empty_gap_penalty,
            "min_edit": min_edit,
            "beam": beam,
            "n_best": n_best,
            "length_penalty": length_penalty,
        },
        model=model,
        engine=engine,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        teacher=teacher,
        keep=keep,
        drop=drop,
        terms=terms,
        ordered=ordered,
        draft=draft,
        folders=folders,
        json=json,
    )
