"""The models that several reproductions need, each with the steps before it; made the same way, they are made once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Step
from levt.recipes.reproduce.parts.decoding import decode_step
from levt.recipes.reproduce.parts.distilling import distil_step
from levt.recipes.reproduce.parts.scoring import score_step
from levt.recipes.reproduce.parts.sizes import size
from levt.recipes.reproduce.parts.task import Task, task
from levt.recipes.reproduce.parts.training import train_step
from levt.recipes.reproduce.parts.tuning import tune_step

Expert = Literal["oracle", "distilled"]
"""Whom a model learns from: the references, or the teacher."""
SECONDS = {"toy": 0.5, "quick": 5.0, "paper": 60.0}
"""How long it takes to decode a test set; at quick scale a thousand short texts take a second, and loading the rest."""


@dataclass(frozen=True)
class Made:
    """The steps of one task at one scale."""

    task: Task
    setting: Setting

    @classmethod
    def of(cls, name: str, setting: Setting) -> "Made":
        """The steps of a task by its name."""
        return cls(task(name, setting.scale), setting)

    @cached_property
    def corpus(self) -> Step:
        """The prepared corpus."""
        return self.task.corpus(self.setting)

    @cached_property
    def teacher(self) -> Step:
        """The Transformer that writes from left to right: baseline and teacher; always of the first seed."""
        return train_step(self.task, self.setting, self.corpus, "autoregressive", label="ar")

    @cached_property
    def distilled(self) -> Step:
        """The corpus as the teacher writes it."""
        return distil_step(self.task, self.setting, self.corpus, self.teacher)

    def corpus_of(self, expert: Expert) -> Step:
        """The corpus that an expert teaches."""
        return self.corpus if expert == "oracle" else self.distilled

    def baseline(self, seed: int) -> Step:
        """The Transformer of a seed."""
        if seed == 1:
            return self.teacher
        return train_step(self.task, self.setting, self.corpus, "autoregressive", label="ar", seed=seed)

    def model(
        self, kind: str = "levt", expert: Expert = "distilled", *, seed: int = 1, label: str = "",
        fields: Mapping[str, Any] | None = None, roll_in: Mapping[str, Any] | None = None,
        training: Mapping[str, Any] | None = None, warm: bool = False,
    ) -> Step:  # fmt: skip
        """A model of any kind, taught by an expert; ``warm``: it begins as the teacher."""
        known: dict[str, Any] = {}
        if expert == "distilled" and self.task.student_dropout is not None:
            known["dropout"] = self.task.student_dropout
        return train_step(
            self.task, self.setting, self.corpus_of(expert), kind, label=f"{label or kind}-{expert}", seed=seed,
            model={**known, **(fields or {})}, roll_in=roll_in, training=training, init=self.teacher if warm else None,
        )  # fmt: skip

    def deep_student(self, seed: int = 1) -> Step:
        """The honest rival: a deep encoder and one decoder layer, left to right, on the distilled corpus.

        Pre-norm: with twelve layers and the norm behind them it hardly learns (21 against 39 BLEU on Multi30k).
        """
        depth = size(self.setting.scale).deep_encoder
        fields = {"encoder_layers": depth, "decoder_layers": 1, "norm": "pre"}
        return self.model("autoregressive", seed=seed, label=f"ar-{depth}-1", fields=fields)

    def tuned(self, model: Step) -> Step:
        """The γ of a LevT."""
        chosen = size(self.setting.scale)
        return tune_step(
            self.task,
            model,
            self.corpus,
            limit=chosen.dev_limit,
            grid=chosen.penalties,
            seconds=3 * self.seconds,
        )

    @property
    def seconds(self) -> float:
        """How long it takes to decode a test set."""
        return SECONDS[self.setting.scale]

    @property
    def seeds(self) -> range:
        """The seeds of all models but teachers."""
        return range(1, self.setting.seeds + 1)

    @property
    def close_seeds(self) -> range:
        """The same for models whose order is a matter of less than one BLEU."""
        return range(1, max(self.setting.seeds, self.setting.close_calls) + 1)

    def outputs(
        self,
        model: Step,
        label: str = "",
        *,
        tuned: bool = False,
        split: str = "test",
        teacher: bool = False,
        **settings: Any,
    ) -> Step:
        """What a model writes for a test set."""
        return decode_step(
            f"{model.label}.{label or 'decoded'}" + ("" if split == "test" else f".{split}"), model, self.corpus,
            split=split, tuned=self.tuned(model) if tuned else None, teacher=self.teacher if teacher else None,
            settings=settings, seconds=self.seconds,
        )  # fmt: skip

    def score(self, outputs: Step, split: str = "test") -> Step:
        """The scores of what was written."""
        return score_step(self.task, outputs, self.corpus, split=split)
