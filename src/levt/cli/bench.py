"""``levt bench``: how fast a model is on this machine."""

import os
import sys
from pathlib import Path

from levt.cli._flags import AnyModel, Maybe
from levt.cli._layout import counted
from levt.cli._model import DEFAULT


def bench(
    model: AnyModel = DEFAULT,
    *,
    engine: tuple[str, ...] = ("auto",),
    batch: tuple[int, ...] = (1, 32),
    input: Maybe[Path] = None,
    reference: Maybe[Path] = None,
    seconds: float = 5.0,
    threads: Maybe[int] = None,
    device: Maybe[str] = None,
    dtype: Maybe[str] = None,
    max_iterations: Maybe[int] = None,
    beam: Maybe[int] = None,
    delete_exit: Maybe[int] = None,
    placeholder_exit: Maybe[int] = None,
) -> None:
    """Measure the time of one text and the throughput of batches; engines take turns, so that all meet the same load.

    Example: levt bench runs/multi30k-levt/best --engine torch onnx-int8 --input test.en --reference test.de

    Args:
        model: Name of a bundled model, a model folder, or an id of the hub (user/name).
        engine: One or several of torch, cuda, onnx, onnx-int8 and native; auto: the fastest exact one.
        batch: Texts that go through the model together; 1 gives the time that one person waits.
        input: File of texts, one per line; by default a few sentences of our own.
        reference: File of reference translations of the input, for BLEU beside the speed.
        seconds: How long each engine is measured with each size of batch.
        threads: Threads of each engine; by default one for every core there is.
        device: cpu, cuda or cuda:N; by default a GPU where there is one.
        dtype: float32, bfloat16, float16 or int8; by default the engine's own.
        max_iterations: Stop after this many iterations (10).
        beam: Hypotheses kept, for models that write from left to right (4).
        delete_exit: Depth at which the delete policy leaves the decoder; by default the model's (torch, cuda, native).
        placeholder_exit: Depth at which the placeholder policy leaves the decoder, likewise.
    """
    import torch

    from levt.cli._model import given, open_model
    from levt.engine.onnx_sessions import THREADS, thread_count
    from levt.errors import ConfigError
    from levt.evaluation.latency import SENTENCES, measure
    from levt.evaluation.metrics import metric
    from levt.refine.ranges import Range

    for size in batch or (0,):
        if problem := Range(1, 1 << 20).problem(size, whole=True):
            raise ConfigError(f"batch {problem if batch else 'must be named'}", hint="--batch 1 64")
    if problem := Range(0, 86_400, above=True).problem(seconds, whole=False):
        raise ConfigError(f"seconds {problem}", hint="5 is the default")
    if threads is not None and (problem := Range(1, 4096).problem(threads, whole=True)):
        raise ConfigError(f"threads {problem}", hint="by default all cores")
    if not engine:
        raise ConfigError("engine must be named", hint="--engine torch onnx-int8 native")
    texts, references = (SENTENCES, ()) if input is None and reference is None else _read(input, reference)
    by = metric("bleu") if references else None  # what it lacks is said now, not when all is measured
    if threads is not None:
        os.environ[THREADS] = str(threads)
    torch.set_num_threads(thread_count())
    loaded = {
        name: open_model(model, engine=name, device=device, dtype=dtype, flag="levt bench")
        for name in dict.fromkeys(engine)
    }
    exits = given(delete=delete_exit, placeholder=placeholder_exit)
    if exits:
        for one in loaded.values():
            one.leave_early(**exits)
    kind = next(iter(loaded.values())).kind
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() and device != "cpu" else ""
    print(
        f"{model} ({kind}), {counted(len(texts), 'text')}, {counted(thread_count(), 'thread')}, "
        f"torch {torch.__version__}{gpu}",
        file=sys.stderr,
    )
    rows = []
    settings = given(max_iterations=max_iterations, beam=beam)
    for size in batch:
        print(f"batch {size}: {counted(len(loaded), 'engine')}, {seconds:g} s each …", file=sys.stderr)
        rows += measure(loaded, texts, batch=size, seconds=seconds, settings=settings)
    if max(row.load for row in rows) > thread_count() + 1:
        print("this machine was busy with other work: times are upper bounds", file=sys.stderr)
    scores: dict[str, str] = {}
    if by is not None:
        print(f"BLEU of {counted(len(texts), 'text')} …", file=sys.stderr)
        for name, one in loaded.items():
            outputs = [result.text for result in one.translate(list(texts), **settings)]
            scores[name] = f"{by.score(outputs, references):6.1f}"
    width = max(len(name) for name in ("engine", *loaded))
    print(
        f"{'engine':<{width}}  batch  calls  first ms    p50 ms    p95 ms    p99 ms  texts/s  iterations  load"
        + ("    BLEU" if scores else "")
    )
    for row in rows:
        p50, p95, p99 = (row.percentile(share) for share in (0.5, 0.95, 0.99))
        print(
            f"{row.name:<{width}} {row.batch:>6} {len(row.times_ms):>6} {row.first_ms:>9.1f} {p50:>9.1f} {p95:>9.1f} "
            f"{p99:>9.1f} {row.per_second:>8.1f} {row.iterations:>11.2f} {row.load:>5.1f}"
            + (f"  {scores[row.name]}" if scores else "")
        )


def _read(input: Path | None, reference: Path | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts of a file, and their references where there are any; what has no text is left out."""
    from levt.cli.evaluate import read_all
    from levt.errors import InputError

    if input is None:
        raise InputError("references are of an input", hint="--input FILE --reference FILE")
    files = read_all(path for path in (input, reference) if path is not None)
    rows = [row for row in zip(*files.values(), strict=True) if row[0].strip()]
    if not rows:
        raise InputError(f"{input} has no text", hint="one text per line")
    return tuple(row[0] for row in rows), tuple(row[-1] for row in rows) if reference else ()
