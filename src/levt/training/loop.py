"""The training loop: steps, validation, checkpoints, and a clean end whatever happens. Knows no experiment."""

import copy
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from levt.data.batches import Batches
from levt.data.order import Order
from levt.errors import LevtError
from levt.imitation.lessons import Lessons
from levt.training.checkpoint import (
    Standing,
    average_masters,
    checkpoint_path,
    checkpoints,
    prune,
    read_checkpoint,
    write_checkpoint,
)
from levt.training.config import TrainingConfig
from levt.training.feed import Feed, Micro
from levt.training.log import Log, clock
from levt.training.parallel import World
from levt.training.schedule import learning_rate
from levt.training.stepper import Stepper
from levt.training.weights import FlatWeights

Validate = Callable[[nn.Module], float]
SaveModel = Callable[[nn.Module, Mapping[str, Any]], None]


class TrainingFailed(LevtError):
    """A run that cannot go on."""


@dataclass(frozen=True)
class Validation:
    """How a model is judged while it learns."""

    score: Validate
    """From a model in evaluation mode to its score on the dev set."""
    name: str
    """What the score is called."""
    higher_is_better: bool = True

    def better(self, new: float, old: float | None) -> bool:
        """True where ``new`` beats ``old``; a score that is not a number never does."""
        if math.isnan(new):
            return False
        return old is None or (new > old if self.higher_is_better else new < old)


class Trainer:
    """One run in a folder: ``checkpoints``, ``best`` (through ``save``) and ``log.jsonl``."""

    def __init__(
        self,
        model: nn.Module,
        lessons: Lessons,
        config: TrainingConfig,
        folder: Path,
        *,
        save: SaveModel,
        validation: Validation | None = None,
        identity: Mapping[str, Any] | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.began = time.monotonic()
        self.device = torch.device(device)
        self.world = World.join(self.device)
        if self.device.type == "cuda":
            torch.cuda.set_device(self.world.local_rank)
        self.config, self.folder, self.save, self.validation = config, folder, save, validation
        self.identity = {
            "seed": config.seed,
            "tokens": config.tokens,
            "workers": self.world.size,
            **(identity or {}),
        }
        self.judged = copy.deepcopy(model).eval()
        """The model that is validated and saved; its weights are copied in when they are needed."""
        self.model = model.to(self.device).train()
        dtype = {"auto": torch.bfloat16 if self.device.type == "cuda" else torch.float32}
        dtype |= {"bf16": torch.bfloat16, "fp32": torch.float32}
        self.weights = FlatWeights(self.model, config, dtype[config.precision])
        self.lessons = lessons
        rank, workers = self.world.rank, self.world.size
        self.batches = Batches(
            lessons.store, lessons.budget, order=Order(seed=config.seed), worker=rank, workers=workers
        )
        self.standing = self._resume()
        self.stop_asked: str | None = None
        self.agreed = self.standing.seconds
        """Time spent on the run, by the clock of the first process: all must end, and learn, alike."""

    def _resume(self) -> Standing:
        found = checkpoints(self.folder)
        if not found:
            return Standing()
        standing, state = read_checkpoint(found[-1], self.identity)
        self.weights.restore(state)
        return standing

    @property
    def seconds(self) -> float:
        """Time spent on the run, in all sittings."""
        return self.standing.seconds + time.monotonic() - self.began

    @property
    def progress(self) -> float:
        """The share of the run that is over, by steps or by minutes, whichever ends first."""
        by_steps = self.standing.step / self.config.max_steps
        minutes = self.config.max_minutes
        return max(by_steps, self.agreed / 60 / minutes) if minutes else by_steps

    @property
    def out_of_patience(self) -> bool:
        """Whether the score has not become better for too long."""
        return 0 < self.config.patience <= self.standing.stale

    @property
    def over(self) -> bool:
        """Whether the run has reached its end."""
        return self.standing.step >= self.config.max_steps or self.progress >= 1 or self.out_of_patience

    def run(self) -> Standing:
        """Train until an end is reached, or somebody asks to stop; then the last checkpoint is written."""
        log = Log(self.folder, speaks=self.world.first, resumed_at=self.standing.step)
        with log, self._signals():
            if self.standing.step:
                log.say(f"resuming at step {self.standing.step:,}")
            try:
                self._steps(log)
            except torch.OutOfMemoryError as error:
                raise TrainingFailed(
                    f"out of memory with tokens = {self.config.tokens}: {str(error).splitlines()[0]}",
                    hint="lower --training.tokens and raise --training.accumulate by the same factor",
                ) from error
            if self.over:
                if self.config.average > 1:
                    self._average(log)
                log.record("end", self.standing.step, best=self.standing.best, seconds=self.seconds)
            else:
                log.say(f"stopped by {self.stop_asked} at step {self.standing.step:,}; run again to go on")
        return self.standing

    def _steps(self, log: Log) -> None:
        config, losses = self.config, self.lessons.names
        with Feed(self.lessons, self.batches, seed=config.seed, start=self.standing.position) as feed:
            stepper = Stepper(
                self.lessons.objective(self.model), self.weights, feed.sizes, len(losses), config, self.world
            )
            tokens, decisions, last = 0, [0.0] * len(losses), time.monotonic()
            before = self.standing.step
            while self._goes_on():
                step = self.standing.step + 1
                micros: list[Micro] = [feed.next() for _ in range(config.accumulate)]
                stepper.step(step, learning_rate(config, step, self.progress), micros)
                self._stand(step=step, position=micros[-1].after)
                tokens += sum(m.tokens for m in micros)
                decisions = [d + float(sum(m.decisions[i] for m in micros)) for i, d in enumerate(decisions)]

                if step % config.log_every == 0:
                    self._report(log, stepper, feed, tokens, decisions, time.monotonic() - last)
                    tokens, decisions, last = 0, [0.0] * len(losses), time.monotonic()
                if step % config.validate_every == 0 and self.validation:
                    self._validate(log)
                    last = time.monotonic()
                    if self.out_of_patience:
                        log.say(f"no better {self.validation.name} in {config.patience} validations")
                if step % config.save_every == 0:
                    self._write()
            if self.standing.step == before and before:
                return  # a run that was over before
            if self.validation and self.standing.step % config.validate_every and self.over:
                self._validate(log)
            self._write()

    def _stand(self, **changes: Any) -> None:
        self.standing = replace(self.standing, **changes)

    def _report(
        self, log: Log, stepper: Stepper, feed: Feed, tokens: int, decisions: list[float], seconds: float
    ) -> None:
        counts = self.world.sum(torch.tensor([*decisions, float(tokens)]))
        means = (stepper.read() / counts[:-1].clamp(min=1)).tolist()
        bad = int(self.weights.bad_steps.item())
        step, rate = self.standing.step, float(counts[-1]) / max(seconds, 1e-9)
        record = dict(zip(self.lessons.names, means, strict=True))
        log.record(
            "train", step, **record, tokens_per_second=rate, learning_rate=float(self.weights.rate), bad_steps=bad,
            gradient_norm=float(self.weights.norm), epoch=self.standing.position.epoch, seconds=self.seconds,
            ready=feed.waiting,
        )  # fmt: skip
        parts = "  ".join(f"{name} {mean:.3f}" for name, mean in record.items())
        left = self.seconds * (1 / max(self.progress, 1e-9) - 1)
        best = "" if self.standing.best is None else f"  best {self.standing.best:.2f}"
        skipped = f"  skipped {bad}" if bad else ""
        log.progress(f"step {step:,}  {parts}  {rate:,.0f} tok/s  {clock(left)} left{best}{skipped}")
        if bad > self.config.max_bad_steps:
            raise TrainingFailed(
                f"{bad} steps had a loss or gradient that is not finite",
                hint="lower --training.learning-rate, or raise --training.warmup",
            )

    def _load_judged(self, weights: Mapping[str, Tensor]) -> None:
        named = dict(self.judged.named_parameters())
        with torch.no_grad():
            for name, tensor in weights.items():
                named[name].copy_(tensor)
        self.judged.to(self.device)

    def _validate(self, log: Log) -> None:
        """Judge the weights of now; keep them if they are the best so far."""
        assert self.validation is not None
        score, start = 0.0, time.monotonic()
        if self.world.first:
            self._load_judged(self.weights.named())
            score = self.validation.score(self.judged)
        # Everybody hears of it, so that all lose their patience together.
        score = float(self.world.sum(torch.tensor([score], dtype=torch.float64)))
        self._judge(log, score, time.monotonic() - start)

    def _judge(self, log: Log, score: float, seconds: float, what: str = "") -> None:
        assert self.validation is not None
        step = self.standing.step
        better = self.validation.better(score, self.standing.best)
        if better:
            self._stand(best=score, best_step=step, stale=0)
            if self.world.first:
                note = {"step": step, self.validation.name: score, "seconds": round(self.seconds, 1)}
                self.save(self.judged, note)
        else:
            self._stand(stale=self.standing.stale + 1)
        log.record(
            "validate", step, score=score, name=self.validation.name, took=seconds, best=self.standing.best
        )
        star = "  (best)" if better else ""
        log.say(f"step {step:,}{what}  {self.validation.name} {score:.2f}{star}  {clock(self.seconds)}")

    def _average(self, log: Log) -> None:
        """Judge the mean of the last checkpoints as well."""
        last = checkpoints(self.folder)[-self.config.average :]
        if self.validation is None or len(last) < 2 or not self.world.first:
            return
        self.weights.master.data.copy_(average_masters(last).to(self.device))
        self._load_judged(self.weights.named(averaged=False))
        start = time.monotonic()
        score = self.validation.score(self.judged)
        self._judge(log, score, time.monotonic() - start, f", mean of {len(last)} checkpoints")

    def _write(self) -> None:
        if self.world.first:
            standing = replace(self.standing, seconds=self.seconds)
            path = checkpoint_path(self.folder, self.standing.step)
            write_checkpoint(path, standing, self.weights.state(), self.identity)
            prune(self.folder, max(self.config.keep, self.config.average))
            if self.validation is None:
                self._load_judged(self.weights.named())
                self.save(self.judged, {"step": self.standing.step, "seconds": round(self.seconds, 1)})
        self.world.barrier()

    def _goes_on(self) -> bool:
        """Whether there is another step; all processes agree."""
        mine = [float(self.stop_asked is not None), self.seconds if self.world.first else 0.0]
        asked, self.agreed = self.world.sum(torch.tensor(mine, dtype=torch.float64)).tolist()
        if asked and self.stop_asked is None:
            self.stop_asked = "another process"
        return not asked and not self.over

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C let the step end and write a checkpoint; a second one does not wait."""

        def ask(number: int, _: object) -> None:
            if self.stop_asked:
                raise KeyboardInterrupt
            self.stop_asked = signal.Signals(number).name

        try:
            old = {s: signal.signal(s, ask) for s in (signal.SIGTERM, signal.SIGINT)}
        except ValueError:  # not in the main thread: the caller has the signals
            old = {}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)
