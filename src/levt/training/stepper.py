"""One training step: forward, backward, optimiser; eager on a CPU, compiled and captured on a GPU."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int32
from torch import Tensor, nn

from levt.imitation.likelihood import Likelihood, OwnTokens
from levt.policy.blocks import Block
from levt.training.config import TrainingConfig
from levt.training.feed import Micro
from levt.training.parallel import World
from levt.training.weights import FlatWeights, Weights

WARM_UP = 3
"""Steps run before capture, so that every library has made its workspaces."""


class Stepper:
    """Runs steps of an objective over lessons of one shape.

    The objective is where the weights are, and is not moved any more: torch lays the weights of an LSTM out anew
    whenever a module is moved on a GPU, and they would no longer be those that are optimised.
    """

    def __init__(
        self,
        objective: nn.Module,
        weights: Weights,
        sizes: Mapping[str, int],
        losses: int,
        config: TrainingConfig,
        world: World,
    ) -> None:
        self.weights, self.config, self.world = weights, config, world
        self.device = weights.rate.device
        self.objective = objective
        assert weights.hold(objective), "the weights that are used are not those that are optimised"
        on_gpu = self.device.type == "cuda"
        self.capture = weights.captures and on_gpu and config.capture is not False
        self.sizes = dict(sizes)
        self.buffer = torch.zeros(sum(sizes.values()), dtype=torch.int32, device=self.device)
        self.decisions = torch.ones(losses, device=self.device)
        self.sums = torch.zeros(losses, device=self.device)
        """Sums of the losses since the last reading."""
        self._learn: torch.cuda.CUDAGraph | None = None
        self._update: torch.cuda.CUDAGraph | None = None
        if on_gpu if config.compile is None else config.compile:
            for module in objective.modules():
                if isinstance(module, Block | Likelihood | OwnTokens):
                    module.compile(dynamic=False)

    def step(self, number: int, rate: float, micros: Sequence[Micro]) -> None:
        """One step over its micro-batches; nothing waits for the device."""
        self.weights.rate.fill_(rate)
        decisions = self.world.sum(torch.from_numpy(np.sum([m.decisions for m in micros], 0)).float())
        self.decisions.copy_(decisions, non_blocking=True)
        for i, micro in enumerate(micros):
            # What is random depends on the number of the step and the place of the micro-batch in it alone, so
            # a resumed run draws the same, and so do several processes that share the micro-batches of one.
            place = i * self.world.size + self.world.rank
            seed = (self.config.seed * 1_000_003 + number) * 4096 + place
            torch.manual_seed(seed)
            self.buffer.copy_(micro.buffer, non_blocking=True)
            if self.capture and self._learn is None:
                self._learn = self._captured_learn()
                if number > 1:
                    # The warm-up has drawn: a run that goes on must draw what it would have drawn without a stop.
                    # (With a first step no run goes on; it draws behind the warm-up, as it always has.)
                    torch.manual_seed(seed)
            self._run_learn()
        self.weights.reduce(self.world)
        self._run_update()

    def lesson(self) -> dict[str, Int32[Tensor, "_"]]:
        """The arrays of the lesson now in the buffer."""
        parts = torch.split(self.buffer, list(self.sizes.values()))
        return dict(zip(self.sizes, parts, strict=True))

    def learn(self) -> None:
        """Forward and backward of the lesson in the buffer; gradients add up."""
        loss, sums = self.objective(self.lesson(), self.decisions)
        (loss * self.weights.loss_scale).backward()
        self.sums.add_(sums)

    def read(self) -> Float[Tensor, "k"]:
        """Sums of the losses since the last reading, of all workers; waits for the device."""
        sums = self.world.sum(self.sums.to("cpu", copy=True))
        self.sums.zero_()
        return sums

    def _run_learn(self) -> None:
        if self._learn is None:
            self.learn()
        else:
            self._learn.replay()

    def _run_update(self) -> None:
        if not self.capture:
            self.weights.step()
            return
        if self._update is None:
            self._update = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._update):
                self.weights.step()
        self._update.replay()

    def _captured_learn(self) -> torch.cuda.CUDAGraph:
        """Capture forward and backward; what the warm-up has added to gradients and sums is taken back."""
        assert isinstance(self.weights, FlatWeights)
        gradient, sums = self.weights.gradient.clone(), self.sums.clone()
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self.learn()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.learn()
        self.weights.gradient.copy_(gradient)
        self.sums.copy_(sums)
        return graph
