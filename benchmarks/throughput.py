"""How many sentences a second? Tokens in, tokens out, the best batch of each; LevT and its autoregressive siblings.

    python benchmarks/throughput.py                             # base size, random weights, 28 → 28 tokens
    python benchmarks/throughput.py --levt LEVT --ar AR --source test.en --reference test.de      # trained, with BLEU
    python benchmarks/throughput.py --host-only                 # what the host alone needs for a batch, on any machine
    python benchmarks/throughput.py --small --batches 8         # rehearsal on a CPU

With random weights LevT takes two iterations with edits (five decoder passes), the others write 28 tokens. Yardsticks
on an H200, batch 128: the reference implementation 1,864 (LevT), 625 (greedy), 553 (beam 4) sentences a second.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor

from latency import VARIANTS, VOCABULARY, autoregressive, scripted, tokenizers
from levt.engine.captured import Captured
from levt.engine.cuda_engine import CudaEngine, CudaSearchEngine
from levt.engine.engine import load_engine
from levt.engine.graph import Graph
from levt.engine.stage import Stage
from levt.refine.options import Options
from levt.refine.request import Request, Tokens
from levt.refine.search import SearchOptions

Contestant = Callable[[Sequence[Tokens], int], list[Tokens]]
"""Sources and a size of batch; gives the targets."""


def levt_contestant(engine: Any, options: Options, lanes: int, variant: str) -> Contestant:
    """LevT at fixed shapes; a batch is so many rows at a time, of a queue as long as there are sources."""
    made: dict[int, Captured] = {}

    def run(sources: Sequence[Tokens], batch: int) -> list[Tokens]:
        width = 32 if max(map(len, sources)) + 2 <= 32 else 64
        if batch not in made:
            # Graphs of one size of batch are thrown away with it: memory.
            made.clear()
            made[batch] = Captured(
                engine.network, places=batch * width, lanes=lanes, tuning=VARIANTS[variant]
            )
        requests = [Request(source=source, options=options) for source in sources]
        return [outcome.tokens for outcome in made[batch].refine(requests)]

    return run


def ar_contestant(engine: Any, beam: int, limit: int | None) -> Contestant:
    def run(sources: Sequence[Tokens], batch: int) -> list[Tokens]:
        search, found = SearchOptions(beam=beam), []
        for start in range(0, len(sources), batch):
            part = sources[start : start + batch]
            limits = [limit or search.limit(len(s) + 2, engine.config.max_length) for s in part]
            found += [ranked[0].tokens for ranked in engine.search(engine.encode(part), limits, search)]
        return found

    return run


def measured(
    run: Contestant, sources: Sequence[Tokens], batch: int, seconds: float, copies: int
) -> tuple[float, int]:
    """Sentences a second, and waits counted: the median of calls with ``copies`` batches of sources each."""
    chosen = [sources[i % len(sources)] for i in range(batch * copies)]
    rates = []
    run(chosen, batch)
    began = time.perf_counter()
    while not rates or (time.perf_counter() - began < seconds and len(rates) < 200):
        start = time.perf_counter()
        run(chosen, batch)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        rates.append(len(chosen) / (time.perf_counter() - start))
    return median(rates), len(rates)


def host_only(batch: int, rounds: int) -> None:
    """Time of the host alone: everything but the captured work, which on a GPU runs by itself.

    The work is done once; after that what it left in the frame is put there again, so that no network stands between
    the host and its caches.
    """
    torch.set_num_threads(1)
    size = {"width": 8, "hidden": 8, "heads": 1, "encoder_layers": 1, "decoder_layers": 1}
    network = scripted("cpu", torch.float32, vocabulary=300, **size)
    engine = Captured(network, places=batch * 32, lanes=1)
    requests = [
        Request(source=tuple(range(200, 226)), options=Options(max_iterations=2)) for _ in range(batch)
    ]
    engine.refine(requests)
    tape: list[tuple[Tensor, Tensor]] = []
    work, number, device_s, recording = Graph.run, 0, 0.0, True

    def run(graph: Graph) -> None:
        nonlocal number, device_s
        began = time.process_time()
        stage = getattr(graph.work, "func", graph.work).__self__
        if isinstance(stage, Stage):
            frame = stage.frame
            if recording:
                work(graph)
                tape.append((frame.ints.clone(), frame.floats.clone()))
            else:
                frame.ints.copy_(tape[number][0])
                frame.floats.copy_(tape[number][1])
                number += 1
        device_s += time.process_time() - began

    Graph.run = run  # type: ignore[method-assign]
    engine.refine(requests)
    recording, before = False, engine.synchronisations
    times, reading = [], []
    for _ in range(rounds):
        number, device_s, began = 0, 0.0, time.process_time()
        outcomes = engine.refine(requests)
        times.append((time.process_time() - began - device_s) * 1e3)
        began = time.process_time()
        for outcome in outcomes:
            list(outcome.rounds)
        reading.append((time.process_time() - began) * 1e3)
    Graph.run = work  # type: ignore[method-assign]
    assert {(o.passes, len(o.tokens)) for o in outcomes} == {(5, 26)}
    waits = (engine.synchronisations - before) / rounds
    print(
        f"{platform.machine()}, load {os.getloadavg()[0]:.1f}, batch {batch}, 2 iterations, {waits:.0f} waits"
    )
    print(
        f"host: {median(times):.2f} ms a batch, fastest {min(times):.2f}; reading all traces {median(reading):.2f}"
    )


def main() -> None:
    """Measure and print the table last."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--levt", type=Path, nargs="*", default=[], help="trained models, measured as they are"
    )
    parser.add_argument("--ar", type=Path, nargs="*", default=[])
    parser.add_argument("--source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--batches", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--copies", type=int, default=8, help="batches in the queue of one call")
    parser.add_argument(
        "--lanes", type=int, nargs="+", default=[2], help="batches that take turns on the device"
    )
    parser.add_argument("--variant", default="fused", choices=list(VARIANTS), help="a way to do it")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16", "float32"])
    parser.add_argument("--only", nargs="*", default=[], help="only what has one of these in its name")
    parser.add_argument("--small", action="store_true", help="tiny networks, to try the script on a CPU")
    parser.add_argument("--host-only", action="store_true")
    parser.add_argument("--output", type=Path, help="append the table to this Markdown file")
    given = parser.parse_args()
    if given.host_only:
        host_only(given.batches[0] if len(given.batches) == 1 else 128, 30)
        return
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = getattr(torch, given.dtype) if device == "cuda" else torch.float32
    contestants: dict[str, Contestant] = {}
    scores: dict[str, str] = {}
    sources: Sequence[Tokens] = [tuple(range(300, 326))]
    if given.levt or given.ar:
        sources, scores = trained(given, device, contestants)
    else:
        small = {"width": 32, "hidden": 64, "heads": 2} if given.small else {}
        random_models(given, device, dtype, small, contestants)
    rows = []
    for name, run in contestants.items():
        if given.only and not any(part in name for part in given.only):
            continue
        cells = []
        for batch in given.batches:
            rate, _ = measured(run, sources, batch, given.seconds, given.copies)
            cells.append(rate)
            print(f"{name}, batch {batch}: {rate:,.0f}/s", flush=True)
        rows.append((name, cells, scores.get(name, "–")))
    machine = torch.cuda.get_device_name() if device == "cuda" else platform.machine()
    what = "trained models" if given.levt or given.ar else "random weights, 28 source and 28 target tokens"
    text = [
        f"\n{machine}, {dtype}, torch {torch.__version__}, load {os.getloadavg()[0]:.1f}; {what}; {given.variant}",
        "sentences a second\n",
        f"| | {' | '.join(f'batch {b}' for b in given.batches)} | best | BLEU |",
        "|---" * (len(given.batches) + 3) + "|",
        *(
            f"| {name} | {' | '.join(f'{c:,.0f}' for c in cells)} | **{max(cells):,.0f}** | {score} |"
            for name, cells, score in rows
        ),
    ]
    print("\n".join(text))
    if given.output is not None:
        with given.output.open("a") as file:
            file.write("\n".join(text) + "\n")


def random_models(
    given: Any, device: str, dtype: torch.dtype, size: dict[str, Any], contestants: dict[str, Contestant]
) -> None:
    """The six systems of the comparison, with weights that nobody trained."""
    for name, exit_ in (("6-6-6", None), ("3-3-6", 3), ("1-1-6", 1)):
        engine = CudaEngine(
            scripted(device, dtype, delete_exit=exit_, placeholder_exit=exit_, **size), tokenizers()
        )
        for lanes in given.lanes:
            label = f"LevT {name}" + (f", {lanes} lanes" if len(given.lanes) > 1 else "")
            contestants[label] = levt_contestant(engine, Options(max_iterations=2), lanes, given.variant)
    for name, beam, layers in (
        ("AR 6-6 greedy", 1, (6, 6)),
        ("AR 6-6 beam 4", 4, (6, 6)),
        ("AR 12-1 greedy", 1, (12, 1)),
    ):
        network = autoregressive(device, dtype, encoder_layers=layers[0], decoder_layers=layers[1], **size)
        contestants[name] = ar_contestant(
            CudaSearchEngine(network, tokenizers(), tuning=VARIANTS[given.variant]), beam, 28
        )


def trained(
    given: Any, device: str, contestants: dict[str, Contestant]
) -> tuple[list[Tokens], dict[str, str]]:
    """Models as their folders have them, and their BLEU at the first size of batch."""
    from levt.evaluation.metrics import bleu

    name = "cuda" if device == "cuda" else "torch"
    engines: list[Any] = []
    for folder in (*given.levt, *given.ar):
        engine: Any = load_engine(name, folder, device)
        engines.append(engine)
        if engine.config.kind == "levt":
            contestants[f"LevT {folder.name}"] = levt_contestant(
                engine, Options(), given.lanes[0], given.variant
            )
        else:
            for beam, what in ((1, "greedy"), (4, "beam 4")):
                contestants[f"AR {folder.name} {what}"] = ar_contestant(engine, beam, None)
    tokenizer = engines[0].tokenizers
    lines = given.source.read_text(encoding="utf-8").splitlines()
    sources = [tuple(tokenizer.source.encode(line)) for line in lines]
    if given.reference is None:
        return sources, {}
    references = given.reference.read_text(encoding="utf-8").splitlines()
    scores = {}
    for label, run in contestants.items():
        texts = tokenizer.target.decode_batch([list(t) for t in run(sources, given.batches[0])])
        scores[label] = f"{bleu(texts, references).value:.1f}"
    return sources, scores


assert VOCABULARY > 400

if __name__ == "__main__":
    main()
