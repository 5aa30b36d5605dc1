"""How fast is decoding on a CPU? LevT and its autoregressive sibling in our engines, CTranslate2 beside them.

    python benchmarks/cpu.py                                            # random weights of base size, 28 → 28 tokens
    python benchmarks/cpu.py --levt LEVT --ar AR --source test.en --reference test.de    # trained, with BLEU

The rival runs the weights of our autoregressive model, in single precision and in int8, with the fastest instructions
it has; its greedy outputs are compared with ours. All take turns, so that they meet the same load. With random weights
LevT does two iterations with edits (five decoder passes: from nothing 26 tokens, then 3 of them anew), the others write
28 tokens; with trained ones every model does what it has learnt. "CPU ms" is the time of all cores together: on a busy
machine it says more than the clock.
"""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

import levt
from levt.engine.engine import load_engine
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

ENGINES = ("torch", "onnx", "onnx-int8")
LENGTH, AGAIN = 26, 3
"""Tokens of a source and of a target, without boundaries; and how many of them the second iteration replaces."""

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


def levt_contestant(folder: Path, name: str, *, forced: bool) -> Contestant:
    engine: Any = load_engine(name, folder, "cpu")
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
    """Seconds of every call, on the clock and of all cores, in turns, after one that does not count."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        chosen = [sources[(number * batch + i) % len(sources)] for i in range(batch)]
        for name, run in contestants.items():
            began, worked = time.perf_counter(), time.process_time()
            run(chosen)
            times[name].append((time.perf_counter() - began, time.process_time() - worked))
    return {name: found[1:] for name, found in times.items()}


def quality(
    contestants: dict[str, Contestant], sources: Sequence[Tokens], targets: list[str], tokenizer: Tokenizer
) -> dict[str, str]:
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
        found[name] = f"{bleu(outputs, targets).value:.1f}"
    return found


def main() -> None:
    """Measure and print the table last."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--levt", type=Path)
    parser.add_argument("--ar", type=Path)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--vocabulary", type=int, default=32000, help="of random weights")
    parser.add_argument("--without", nargs="*", default=[], help="leave out what has this in its name")
    given = parser.parse_args()
    if given.threads:
        os.environ["LEVT_THREADS"] = str(given.threads)
    from levt.engine.onnx_sessions import thread_count

    threads = thread_count()
    torch.set_num_threads(threads)
    forced = given.levt is None
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_CACHE_HOME"] = temporary
        size = {"source_vocabulary": given.vocabulary, "target_vocabulary": given.vocabulary}
        edits = given.levt or random_model(Path(temporary) / "levt", LevTConfig(**size), given.vocabulary)
        writes = given.ar or random_model(
            Path(temporary) / "ar", AutoregressiveConfig(**size), given.vocabulary
        )
        network = load_folder(writes).model
        assert isinstance(network, Autoregressive)
        options, positions = SearchOptions(), network.config.max_length

        def limit(source: Tokens) -> int:
            return LENGTH + 3 if forced else options.limit(len(source) + 2, positions)

        contestants: dict[str, Contestant] = {}
        for name in ENGINES:
            contestants[f"LevT, {name}"] = levt_contestant(edits, name, forced=forced)
            contestants[f"AR greedy, {name}"] = ar_contestant(writes, name, 1, limit)
        for compute in ("float32", "int8"):
            rival = Rival(network, compute, threads)
            for beam, way in ((1, "greedy"), (4, "beam 4")):
                contestants[f"AR {way}, CTranslate2 {compute}"] = rival_contestant(
                    rival, beam, limit, forced=forced
                )
        contestants = {n: c for n, c in contestants.items() if not any(part in n for part in given.without)}

        tokenizer = levt.Model(load_engine("torch", edits, "cpu")).engine.tokenizers
        if given.source is None:
            generator = torch.Generator().manual_seed(1)
            shape = (64, LENGTH)
            sources = [
                tuple(row) for row in torch.randint(5, given.vocabulary, shape, generator=generator).tolist()
            ]
        else:
            lines = given.source.read_text(encoding="utf-8").splitlines()
            sources = [tuple(row) for row in tokenizer.source.encode_batch(lines)]
        ours, theirs = (contestants[f"AR greedy, {n}"] for n in ("torch", "CTranslate2 float32"))
        some = sources[:16]
        same = sum(a == b[: len(a)] for a, b in zip(ours(some), theirs(some), strict=True))
        print(f"greedy outputs of CTranslate2 float32 that are ours: {same} of {len(some)}")

        before = os.getloadavg()[0]
        results = {b: timed(contestants, sources, b, max(given.rounds // b, 3)) for b in given.batches}
        scores: dict[str, str] = {}
        if given.reference is not None:
            references = given.reference.read_text(encoding="utf-8").splitlines()
            scores = quality(contestants, sources, references, tokenizer.target)
    import ctranslate2
    import onnxruntime

    print(
        f"\n{platform.processor() or platform.machine()}, {threads} threads; load {before:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after; torch {torch.__version__}, onnxruntime {onnxruntime.__version__}, "
        f"ctranslate2 {ctranslate2.__version__} ({os.environ.get('CT2_FORCE_CPU_ISA', 'its own choice')}); "
        f"{'random weights of base size' if forced else f'{edits} and {writes}'}\n"
    )
    columns = [
        f"batch {b}: {what}"
        for b in given.batches
        for what in ("median ms", "fastest ms", "CPU ms", "texts/s")
    ]
    print("| | " + " | ".join([*columns, "BLEU"]) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for name in contestants:
        cells = []
        for b in given.batches:
            times = [wall for wall, _ in results[b][name]]
            cells += [
                f"{median(times) * 1e3:.1f}",
                f"{min(times) * 1e3:.1f}",
                f"{median(cpu for _, cpu in results[b][name]) * 1e3:.1f}",
                f"{b / median(times):.1f}",
            ]
        print(f"| {name} | " + " | ".join([*cells, scores.get(name, "–")]) + " |", flush=True)


if __name__ == "__main__":
    main()
