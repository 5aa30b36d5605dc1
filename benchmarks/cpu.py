"""How fast is decoding on a CPU? LevT and its autoregressive sibling in our engines, CTranslate2 beside them.

    python benchmarks/cpu.py                                            # random weights of base size, 28 → 28 tokens
    python benchmarks/cpu.py --levt LEVT --ar AR --source test.en --reference test.de    # trained, with BLEU
        --results benchmarks/results/cpu_2core_202611.md                # appends the table there

The rival runs the weights of our autoregressive model, in single precision and in int8, with the fastest instructions
it has; its greedy outputs are compared with ours. All take turns, a few texts at a time after one that does not count,
with a pause between, so that all meet the same load and no thread of another that still spins; everyone runs with one
thread and with all. With random weights LevT does two iterations with edits (five decoder passes: from nothing 26
tokens, then 3 of them anew), the others write 28 tokens; with trained ones every model does what it has learnt.
"CPU ms" is the time of all cores together: on a busy machine it says more than the clock.
"""

import argparse
import os
import platform
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

import levt
from levt.engine.engine import load_engine
from levt.engine.onnx_sessions import thread_count
from levt.policy.autoregressive import Autoregressive
from levt.policy.build import build
from levt.policy.card import Card
from levt.policy.config import AutoregressiveConfig, LevTConfig, ModelConfig
from levt.policy.folder import Tokenizers, load_folder, save_folder
from levt.refine.options import Options
from levt.refine.request import Request, Tokens
from levt.refine.search import SearchOptions
from levt.text.specials import SPECIALS
from levt.text.tokenizer import Tokenizer
from rival_ctranslate2 import Rival

BLOCK, PAUSE = 6, 0.3
"""Calls that a contestant makes at a time, the first of which does not count, and the seconds before them."""
LENGTH, AGAIN = 26, 3
"""Tokens of a source and of a target, without boundaries; and how many of them the second iteration replaces."""

LEVT, RIVAL = "LevT, native int8", "AR greedy, CTranslate2 int8"
SIDES = (LEVT, "LevT, onnx-int8", RIVAL)

Contestant = Callable[[Sequence[Tokens]], list[Tokens]]


class Forced(nn.Module):
    """A network that computes what it computes, and decides what it is told: so that random weights do real work."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network, self.config = network, network.config

    def encode(self, x: Int[Tensor, "b s"]) -> Any:
        """Read."""
        return self.network.encode(x)

    def delete(self, memory: Any, y: Int[Tensor, "b n"]) -> Float[Tensor, "b n 2"]:
        """Delete some tokens."""
        scores = torch.zeros_like(self.network.delete(memory, y))
        scores[..., 0] = 9
        scores[:, 5 : 5 + AGAIN, 0] = -9
        return scores

    def placeholder(self, memory: Any, y: Int[Tensor, "b n"]) -> Float[Tensor, "b g k"]:
        """Open a gap for the whole, then one for what was deleted."""
        scores = torch.zeros_like(self.network.placeholder(memory, y))
        scores[..., 0] = 9
        gap, count = (0, LENGTH) if y.shape[1] == 2 else (4, AGAIN)
        scores[:, gap, count] = 99
        return scores

    def token(self, memory: Any, y: Int[Tensor, "b n"], where: Bool[Tensor, "b n"]) -> Float[Tensor, "p v"]:
        """Tokens are its own."""
        scores: Tensor = self.network.token(memory, y, where)
        return scores


def random_model(folder: Path, config: ModelConfig, vocabulary: int) -> Path:
    """A model folder with random weights, whose words are w5, w6 and so on."""
    torch.manual_seed(0)
    pieces = [f"w{i}" for i in range(len(SPECIALS), vocabulary)]
    tokenizers = Tokenizers.joint(Tokenizer.from_pieces(pieces))
    save_folder(folder, build(config), tokenizers, Card(name="random"))
    return folder


def levt_contestant(
    folder: Path, name: str, *, forced: bool, dtype: str | None = None, exits: int = 0
) -> Contestant:
    engine: Any = load_engine(name, folder, "cpu", dtype)
    if exits:
        levt.Model(engine).leave_early(delete=exits, placeholder=exits)
    if forced:
        engine.network = Forced(engine.network)
        # Its device is that of its first parameter, of which graphs have none.
        engine.network.register_parameter("none", nn.Parameter(torch.zeros(0)))
    options = Options(max_iterations=2) if forced else Options()

    def run(sources: Sequence[Tokens]) -> list[Tokens]:
        requests = [Request(source=source, options=options) for source in sources]
        outcomes = engine.refine(engine.encode(sources), requests)
        assert not forced or {(o.passes, len(o.tokens)) for o in outcomes} == {(5, LENGTH)}
        return [outcome.tokens for outcome in outcomes]

    return run


def ar_contestant(folder: Path, name: str, beam: int, limit: Callable[[Tokens], int]) -> Contestant:
    engine = load_engine(name, folder, "cpu")

    def run(sources: Sequence[Tokens]) -> list[Tokens]:
        found = engine.search(engine.encode(sources), [limit(s) for s in sources], SearchOptions(beam=beam))
        return [ranked[0].tokens for ranked in found]

    return run


def rival_contestant(rival: Rival, beam: int, limit: Callable[[Tokens], int], *, forced: bool) -> Contestant:
    def run(sources: Sequence[Tokens]) -> list[Tokens]:
        return rival.translate(sources, beam=beam, steps=max(map(limit, sources)) - 1, forced=forced)

    return run


def timed(
    contestants: dict[str, Contestant], sources: Sequence[Tokens], batch: int, rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """Seconds of every call, on the clock and of all cores, block by block in turns."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    chosen = [[sources[(n * batch + i) % len(sources)] for i in range(batch)] for n in range(rounds)]
    size = BLOCK if batch == 1 else 2
    for start in range(0, rounds, size):
        for name, run in contestants.items():
            time.sleep(PAUSE)
            run(chosen[start - 1])
            for texts in chosen[start : start + size]:
                began, worked = time.perf_counter(), time.process_time()
                run(texts)
                times[name].append((time.perf_counter() - began, time.process_time() - worked))
    return times


def quality(
    contestants: dict[str, Contestant], sources: Sequence[Tokens], targets: list[str], tokenizer: Tokenizer
) -> dict[str, float]:
    """BLEU of every contestant over the whole test set."""
    from levt.evaluation.metrics import bleu

    found, order = {}, sorted(range(len(sources)), key=lambda i: len(sources[i]))
    for name, run in contestants.items():
        outputs = [""] * len(sources)
        for start in range(0, len(order), 32):
            rows = order[start : start + 32]
            texts = tokenizer.decode_batch([list(t) for t in run([sources[i] for i in rows])])
            for i, text in zip(rows, texts, strict=True):
                outputs[i] = text
        found[name] = bleu(outputs, targets).value
        print(f"{name}: BLEU {found[name]:.2f}", file=sys.stderr)
    return found


def contestants_of(
    edits: Path, writes: Path, limit: Callable[[Tokens], int], cores: int, *, forced: bool
) -> dict[str, Contestant]:
    """Everyone, with one thread and with all."""
    network = load_folder(writes).model
    assert isinstance(network, Autoregressive)
    found: dict[str, Contestant] = {}
    for threads in sorted({1, cores}):
        os.environ["LEVT_THREADS"] = str(threads)
        label = f"{threads} thread{'s' * (threads > 1)}"
        if not forced:
            found[f"{LEVT}, {label}"] = levt_contestant(edits, "native", forced=False)
        found[f"LevT, onnx-int8, {label}"] = levt_contestant(edits, "onnx-int8", forced=forced)
        found[f"{RIVAL}, {label}"] = rival_contestant(
            Rival(network, "int8", threads), 1, limit, forced=forced
        )
    # What follows runs as all did best: alone where there are few cores.
    os.environ["LEVT_THREADS"] = "1"
    one = "1 thread"
    if not forced:
        for depth in (1, 3):
            name = f"LevT, native int8, delete and placeholder leave at {depth}, {one}"
            found[name] = levt_contestant(edits, "native", forced=False, exits=depth)
        found[f"LevT, native float32, {one}"] = levt_contestant(
            edits, "native", forced=False, dtype="float32"
        )
    found[f"LevT, onnx float32, {one}"] = levt_contestant(edits, "onnx", forced=forced)
    found[f"AR greedy, onnx-int8, {one}"] = ar_contestant(writes, "onnx-int8", 1, limit)
    found[f"AR greedy, onnx float32, {one}"] = ar_contestant(writes, "onnx", 1, limit)
    single = Rival(network, "float32", 1)
    found[f"AR greedy, CTranslate2 float32, {one}"] = rival_contestant(single, 1, limit, forced=forced)
    found[f"AR beam 4, CTranslate2 int8, {one}"] = rival_contestant(
        Rival(network, "int8", 1), 4, limit, forced=forced
    )
    return found


def verdicts(
    names: Sequence[str], medians: dict[int, dict[str, float]], scores: dict[str, float]
) -> list[str]:
    """What the table says: how many times as fast as the rival, and what bytes cost."""
    found = []
    for batch, ms in medians.items():
        best: dict[str, tuple[float, str]] = {}
        for side in SIDES:
            known = [(ms[n], n) for n in names if n.startswith(f"{side}, ") and "leave" not in n]
            best |= {side: min(known)} if known else {}
        for ours in SIDES[:-1]:
            if ours in best and RIVAL in best:
                (mine, how), (theirs, other) = best[ours], best[RIVAL]
                times = f"{theirs / mine:.2f} times as fast"
                found.append(f"batch {batch}: {how} {mine:.2f} ms, {other} {theirs:.2f} ms: {times}")
    for exact, rough in (
        ("LevT, onnx float32, 1 thread", "LevT, onnx-int8, 1 thread"),
        ("LevT, native float32, 1 thread", f"{LEVT}, 1 thread"),
        ("AR greedy, onnx float32, 1 thread", "AR greedy, onnx-int8, 1 thread"),
        ("AR greedy, CTranslate2 float32, 1 thread", f"{RIVAL}, 1 thread"),
    ):
        if exact in scores and rough in scores:
            cost = scores[rough] - scores[exact]
            found.append(f"bytes: {exact} {scores[exact]:.2f} BLEU, {rough} {scores[rough]:.2f}: {cost:+.2f}")
    return found


def main() -> None:
    """Measure, and print the table last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--levt", type=Path)
    parser.add_argument("--ar", type=Path)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument(
        "--threads", type=int, default=None, help="all of them; by default one for every core"
    )
    parser.add_argument("--rounds", type=int, nargs="+", default=[60, 6], help="calls timed, for every batch")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--vocabulary", type=int, default=32000, help="of random weights")
    parser.add_argument("--without", nargs="*", default=[], help="leave out what has this in its name")
    parser.add_argument("--results", type=Path, help="append the table to this file")
    given = parser.parse_args()
    began = time.perf_counter()
    if given.threads:
        os.environ["LEVT_THREADS"] = str(given.threads)
    cores = thread_count()
    torch.set_num_threads(1)
    forced = given.levt is None
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_CACHE_HOME"] = temporary
        size = {"source_vocabulary": given.vocabulary, "target_vocabulary": given.vocabulary}
        edits = given.levt or random_model(Path(temporary) / "levt", LevTConfig(**size), given.vocabulary)
        writes = given.ar or random_model(
            Path(temporary) / "ar", AutoregressiveConfig(**size), given.vocabulary
        )
        tokenizers = load_engine("torch", edits, "cpu").tokenizers
        plain = load_engine("torch", writes, "cpu")
        options, positions = SearchOptions(), plain.config.max_length

        def limit(source: Tokens) -> int:
            return LENGTH + 3 if forced else options.limit(len(source) + 2, positions)

        if given.source is None:
            generator = torch.Generator().manual_seed(1)
            drawn = torch.randint(5, given.vocabulary, (64, LENGTH), generator=generator)
            sources = [tuple(row) for row in drawn.tolist()]
        else:
            lines = given.source.read_text(encoding="utf-8").splitlines()
            sources = [tuple(row) for row in tokenizers.source.encode_batch(lines)]
        contestants = contestants_of(edits, writes, limit, cores, forced=forced)
        contestants = {n: c for n, c in contestants.items() if not any(part in n for part in given.without)}
        theirs = contestants.get("AR greedy, CTranslate2 float32, 1 thread")
        some, same = sources[:16], -1
        if theirs is not None:
            ours = ar_contestant(writes, "torch", 1, limit)
            same = sum(a == b[: len(a)] for a, b in zip(ours(some), theirs(some), strict=True))
        before = os.getloadavg()[0]
        print(f"ready after {time.perf_counter() - began:.0f} s, load {before:.1f}", file=sys.stderr)
        results = {
            b: timed(contestants, sources, b, n) for b, n in zip(given.batches, given.rounds, strict=True)
        }
        between = os.getloadavg()[0]
        print(f"timed after {time.perf_counter() - began:.0f} s, load {between:.1f}", file=sys.stderr)
        scores: dict[str, float] = {}
        if given.reference is not None:
            references = given.reference.read_text(encoding="utf-8").splitlines()
            # Threads change no text of ours.
            scored = {n: c for n, c in contestants.items() if n.endswith(" 1 thread")}
            scores = quality(scored, sources, references, tokenizers.target)
    import ctranslate2
    import onnxruntime

    medians = {
        b: {name: median(wall for wall, _ in found[name]) * 1e3 for name in contestants}
        for b, found in results.items()
    }
    report = [
        f"## {date.today().isoformat()}",
        "",
        f"`{shlex.join(['python', *sys.argv])}`",
        "",
        f"{processor()}, {cores} cores; load {before:.1f} before and {between:.1f} after the timing; Python "
        f"{platform.python_version()}, levt {levt.__version__}, torch {torch.__version__}, onnxruntime "
        f"{onnxruntime.__version__}, ctranslate2 {ctranslate2.__version__} "
        f"({os.environ.get('CT2_FORCE_CPU_ISA', 'instructions of its own choice')}); "
        f"{'random weights of base size' if forced else f'{edits} and {writes}'}; {len(sources)} texts, "
        f"greedy outputs of CTranslate2 float32 that are those of torch: {same} of {len(some)}; medians of "
        f"{' and '.join(map(str, given.rounds))} calls; {time.perf_counter() - began:.0f} s in all.",
        "",
    ]
    columns = [
        f"batch {b}: {what}" for b in given.batches for what in ("ms", "fastest ms", "CPU ms", "texts/s")
    ]
    report += ["| | " + " | ".join([*columns, "BLEU"]) + " |", "|---" * (len(columns) + 2) + "|"]
    for name in contestants:
        cells = []
        for b in given.batches:
            cells += [
                f"{medians[b][name]:.2f}",
                f"{min(wall for wall, _ in results[b][name]) * 1e3:.2f}",
                f"{median(cpu for _, cpu in results[b][name]) * 1e3:.2f}",
                f"{b / medians[b][name] * 1e3:.0f}",
            ]
        score = scores.get(name.rpartition(", ")[0] + ", 1 thread")
        report.append(f"| {name} | " + " | ".join([*cells, "–" if score is None else f"{score:.2f}"]) + " |")
    report += ["", *(f"- {line}" for line in verdicts(list(contestants), medians, scores)), ""]
    print("\n".join(report))
    if given.results is not None:
        with given.results.open("a", encoding="utf-8") as file:
            file.write("\n".join(["", *report]))


def processor() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    flags = next((line for line in lines if line.startswith("flags")), "")
    return f"{name or platform.machine()}{' with AVX-512 VNNI' if 'avx512_vnni' in flags else ''}"


if __name__ == "__main__":
    main()
