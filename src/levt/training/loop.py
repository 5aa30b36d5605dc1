"""The training loop: steps, validation, checkpoints, and a clean end whatever happens. Knows no experiment."""

import copy
import math
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from levt.data.batches import Batches
from levt.data.order import Order
from levt.errors import ConfigError, LevtError
from levt.imitation.lessons import Lessons
from levt.training.checkpoint import Standing, checkpoint_path, checkpoints, remember_best, step_of
from levt.training.config import TrainingConfig
from levt.training.feed import Feed, Micro
from levt.training.lock import FolderInUse, RunLock
from levt.training.log import Log, clock
from levt.training.pace import Pace
from levt.training.parallel import LAUNCH, World
from levt.training.saving import Saver
from levt.training.schedule import learning_rate
from levt.training.stepper import Stepper
from levt.training.weights import FlatWeights, Weights

Validate = Callable[[nn.Module], float]
SaveModel = Callable[[nn.Module, Mapping[str, Any]], None]
GO_ON = "run again to go on"
"""What is true of a run whose folder stays."""


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
        after_stop: str = GO_ON,
    ) -> None:
        self.began = time.monotonic()
        self.device = torch.device(device)
        self.world = World.join(self.device, config.backend)
        if self.device.type == "cuda":
            torch.cuda.set_device(self.world.gpu(self.device))
        self.config, self.folder, self.save, self.validation = (
            config.shared_by(self.world.size), folder, save, validation,
        )  # fmt: skip
        self.after_stop = after_stop
        """What is said to who stops the run: what becomes of it."""
        self.identity = {"seed": config.seed, "tokens": config.tokens, **(identity or {})}
        self.judged = copy.deepcopy(model).eval()
        """The model that is validated and saved; its weights are copied in when they are needed."""
        self.model = model.to(self.device).train()
        self.lessons = lessons
        self.objective = lessons.objective(self.model).to(self.device)
        self.weights = self._weights()
        self.saver = Saver(folder, self.weights, self.config, self.world)
        rank, workers = self.world.rank, self.world.size
        self.batches = Batches(
            lessons.store, lessons.budget, order=Order(seed=config.seed), worker=rank, workers=workers
        )
        self.note = ""
        """What is to be said about how the run goes on."""
        self.lock = RunLock(folder)
        self._lock()
        try:
            self.standing = self._resume()
        except BaseException:
            self.lock.release()
            raise
        self.stop_asked: str | None = None
        self.pace = Pace(self.standing.step, self.began)
        self.agreed = self.standing.seconds
        """Time spent on the run, by the clock of the first process: all must end, and learn, alike."""

    def _lock(self) -> None:
        """Make sure that nobody else trains here; all processes hear of it."""
        refused: FolderInUse | None = None
        if self.world.first:
            try:
                # After an elastic restart the process before may still be going.
                self.lock.acquire(
                    patience=30.0 if os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0" else 0.0
                )
                for rest in self.folder.glob(".best.*"):  # of a process killed while it wrote the best model
                    shutil.rmtree(rest, ignore_errors=True)  # a file is somebody else's
            except FolderInUse as error:
                refused = error
        if self.world.sum(torch.tensor([float(refused is not None)])).item():
            raise refused or FolderInUse(f"{self.folder} is in use", hint="see the first process")

    def _weights(self) -> Weights:
        auto = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        dtype = {"auto": auto, "bf16": torch.bfloat16, "fp32": torch.float32}[self.config.precision]
        if self.config.sharding == "replicate":
            return FlatWeights(self.model, self.config, dtype)
        if self.world.size == 1:
            raise ConfigError(
                "there is one process, and nothing to share its weights with",
                hint=f"--training.sharding replicate, or several processes: {LAUNCH}",
            )
        from levt.training.sharded import ShardedWeights

        return ShardedWeights(self.objective, self.model, self.config, dtype, self.world)

    def _resume(self) -> Standing:
        # The first says where the last checkpoint is: others may see an older folder over the network.
        found = checkpoints(self.folder) if self.world.first else []
        step = float(step_of(found[-1])) if found else -1.0
        step = self.world.sum(torch.tensor([step if self.world.first else 0.0], dtype=torch.float64)).item()
        if step < 0:
            return Standing()
        record = self.saver.load(checkpoint_path(self.folder, int(step)), self.identity)
        standing, before, now = record.standing, record.workers, self.world.size
        self.note = f"resuming at step {standing.step:,}"
        if before == now:
            return standing
        self.note += (
            f"; processes: {now} (before: {before}), micro-batches a step: {now * self.config.accumulate}"
        )
        return replace(standing, position=standing.position.shared_by(now, before=before))

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
        with self._closing(), self._log() as log, self._signals():
            if self.note:
                log.say(self.note)
            try:
                self._steps(log)
                self.saver.wait()
            except (torch.OutOfMemoryError, MemoryError) as error:
                reason = str(error).splitlines() or [type(error).__name__]
                # The tokens of a batch are part of what a run is: its checkpoints refuse others.
                where = ", in another --out folder" if checkpoints(self.folder) else ""
                raise TrainingFailed(
                    f"out of memory with tokens = {self.config.tokens}: {reason[0]}",
                    hint=f"lower --training.tokens and raise --training.accumulate by the same factor{where}",
                ) from error
            except (dist.DistError, RuntimeError) as error:
                if not self.world.lost_in(error):
                    raise
                raise TrainingFailed(
                    f"another process of the run has gone: {str(error).splitlines()[0]}",
                    hint=f"{GO_ON}; torchrun --max-restarts 3 does it by itself",
                ) from error
            if self.over:
                if self.config.average > 1:
                    self._average(log)
                log.record("end", self.standing.step, best=self.standing.best, seconds=self.seconds)
            else:
                log.say(f"stopped by {self.stop_asked} at step {self.standing.step:,}; {self.after_stop}")
        return self.standing

    def _log(self) -> Log:
        return Log(self.folder, speaks=self.world.first, resumed_at=self.standing.step)

    def _steps(self, log: Log) -> None:
        config, losses = self.config, self.lessons.names
        with Feed(self.lessons, self.batches, seed=config.seed, start=self.standing.position) as feed:
            stepper = Stepper(self.objective, self.weights, feed.sizes, len(losses), config, self.world)
            tokens, decisions, last = 0, [0.0] * len(losses), time.monotonic()
            before = self.standing.step
            self.pace = Pace(before, last)
            goes_on = self._goes_on()
            while goes_on:
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
                    began = time.monotonic()
                    self._validate(log)
                    last += time.monotonic() - began  # it is no time of learning
                    if self.out_of_patience:
                        log.say(f"no better {self.validation.name} in {config.patience} validations")
                goes_on = self._goes_on()
                # The last step is written below, once it has been judged: who finds its checkpoint judges no more.
                if goes_on and step % config.save_every == 0:
                    self._write()
            over_before = self.standing.step == before > 0
            never_judged = self.validation and self.standing.best is None and self.over
            if over_before and not never_judged:
                return
            if self.validation and self.over and (over_before or self.standing.step % config.validate_every):
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
        minutes = self.config.max_minutes
        rest = 60 * minutes - self.seconds if minutes else None
        left = self.pace.left(step, self.config.max_steps, time.monotonic(), at_most=rest)
        best = "" if self.standing.best is None else f"  best {self.standing.best:.2f}"
        skipped = f"  skipped {bad}" if bad else ""
        log.progress(f"step {step:,}  {parts}  {rate:,.0f} tok/s  {clock(left)} left{best}{skipped}")
        self._check_finite()

    def _check_finite(self) -> None:
        """Give up where too many steps were skipped."""
        bad = int(self.weights.bad_steps.item())
        if bad > self.config.max_bad_steps:
            raise TrainingFailed(
                f"{bad} steps had a loss or gradient that is not finite",
                hint="lower --training.learning-rate, or raise --training.warmup",
            )

    def _load_judged(self, *, averaged: bool = True) -> None:
        """Copy the weights of now to the model that is judged; all take part, the first has it."""
        named = dict(self.judged.named_parameters())
        with torch.no_grad():
            for name, tensor in self.weights.whole(averaged=averaged):
                if self.world.first:
                    named[name].copy_(tensor)
        if self.world.first:
            self.judged.to(self.device)

    def _validate(self, log: Log, what: str = "", *, averaged: bool = True) -> None:
        """Judge the weights of now; keep them if they are the best so far."""
        assert self.validation is not None
        score, start = 0.0, time.monotonic()
        self._load_judged(averaged=averaged)
        if self.world.first:
            score = self.validation.score(self.judged)
        # Everybody hears of it, so that all lose their patience together.
        score = float(self.world.sum(torch.tensor([score], dtype=torch.float64)))
        self._judge(log, score, time.monotonic() - start, what)

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
        self.world.barrier()  # the first has written the last one
        last = checkpoints(self.folder)[-self.config.average :]
        if self.validation is None or len(last) < 2:
            return
        total = [torch.zeros_like(part) for part in self.weights.masters()]
        for path in last:
            self.saver.load(path, self.identity)
            for mean, part in zip(total, self.weights.masters(), strict=True):
                mean.add_(part)
        for mean, part in zip(total, self.weights.masters(), strict=True):
            part.copy_(mean / len(last))
        before = self.standing.best
        self._validate(log, f", mean of {len(last)} checkpoints", averaged=False)
        if self.world.first and self.standing.best != before:
            # A run that is given more steps must not put something worse in its place.
            remember_best(last[-1], self.standing, self.identity)

    def _write(self) -> None:
        """Write a checkpoint; before it the model, where nobody judges it: a run that is over saves no model."""
        self._check_finite()
        if self.validation is None:
            self._load_judged()
            if self.world.first:
                self.save(self.judged, {"step": self.standing.step, "seconds": round(self.seconds, 1)})
        self.saver.write(replace(self.standing, seconds=self.seconds), self.identity)
        self.world.barrier()

    def _goes_on(self) -> bool:
        """Whether there is another step; all processes agree."""
        mine = [float(self.stop_asked is not None), self.seconds if self.world.first else 0.0]
        asked, self.agreed = self.world.sum(torch.tensor(mine, dtype=torch.float64)).tolist()
        if asked and self.stop_asked is None:
            self.stop_asked = "another process"
        return not asked and not self.over

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """Let go of the folder, whatever happens, once what is being written is written."""
        try:
            yield
        except BaseException:
            with suppress(LevtError):  # what went wrong first is what matters
                self.saver.close()
            raise
        else:
            self.saver.close()
        finally:
            self.lock.release()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C let the step end and write a checkpoint; a second one does not wait.

        Ctrl-C reaches all processes of a terminal, and who has started this one may then tell it to stop as well: two
        signals of different kinds are one wish.
        """
        heard: set[int] = set()

        def ask(number: int, _: object) -> None:
            if number in heard:
                raise KeyboardInterrupt
            heard.add(number)
            self.stop_asked = self.stop_asked or signal.Signals(number).name

        try:
            old = {s: signal.signal(s, ask) for s in (signal.SIGTERM, signal.SIGINT)}
        except ValueError:  # not in the main thread: the caller has the signals
            old = {}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)
