"""Model: the three lines of Python that a user writes. Text in, results out; knows no tensor.

model = levt.load("folder")
model.translate("A dog runs.")
model.refine("A dog runs.", draft="Ein Hund läuft.", keep=["Ein Hund"])
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar, overload

from torch import nn

from levt.engine.batching import Budget
from levt.engine.engine import Engine, load_engine
from levt.engine.exits import leave_early
from levt.engine.refining import Rerank, prepare, refine_jobs
from levt.engine.result import Result
from levt.engine.scoring import score_texts
from levt.engine.settings import STEERING, numbered, pair_of, taken, texts_of, wishes_of
from levt.engine.writing import AnyOptions, prepare_search, search_tasks
from levt.errors import ConfigError, InputError, LevtError
from levt.policy.hub import resolve
from levt.refine.decoders import options_of
from levt.refine.rerank import Candidates
from levt.refine.wish import Wish, checked_text, checked_wish

Item = TypeVar("Item")
Job = TypeVar("Job")


def load(
    name: str | os.PathLike[str],
    *,
    device: str | None = None,
    dtype: str | None = None,
    engine: str = "auto",
    budget: Budget | None = None,
) -> "Model":
    """A model by the name of a bundled one, by its folder, or by its id on the hub (user/name).

    By default it runs on the GPU in bfloat16 where there is one, else on the CPU in float32.

    Args:
        name: Such as ``levt-en-de``.
        device: ``cpu``, ``cuda`` or ``cuda:N``.
        dtype: ``float32``, ``bfloat16`` or ``float16``; ``int8`` for the engines that know it.
        engine: ``torch``, ``cuda``, ``onnx``, ``onnx-int8`` or ``native``; ``auto`` takes the fastest exact one.
        budget: How many texts go through the model together; changes speed and memory, never a result.
    """
    return Model(load_engine(engine, resolve(name), device, dtype), budget)


class Model:
    """A loaded model."""

    def __init__(self, engine: Engine, budget: Budget | None = None) -> None:
        """For an engine; usually by ``levt.load``."""
        if not isinstance(budget, Budget | None):
            raise ConfigError(
                f"budget must be a Budget, got {budget!r}", hint="levt.Budget(rows=…), or leave it out"
            )
        self.engine = engine
        self.budget = budget or Budget()

    @property
    def kind(self) -> str:
        """What it is: levt, autoregressive, post-editing, recurrent, masked, denoising or insertion."""
        return self.engine.config.kind

    def __repr__(self) -> str:
        return f"Model(kind={self.kind!r}, vocabulary={self.engine.config.target_vocabulary})"

    @overload
    def translate(self, text: str, **settings: Any) -> Result: ...
    @overload
    def translate(self, text: Sequence[str], **settings: Any) -> list[Result]: ...
    def translate(self, text: str | Sequence[str], **settings: Any) -> Result | list[Result]:
        """Write the target of a source, or of many; results are in the order of the texts.

        Settings of LevT: those of ``Options``; ``terms`` that must appear (``ordered`` if in that order) and
        texts to ``drop``, one sequence per text where there are many; a ``teacher`` model that chooses among
        ``candidates``. Settings of the other kinds: those of ``SearchOptions`` where they write from left to right,
        else of ``MaskPredictOptions``, ``DenoiseOptions`` or ``InsertOptions``. With ``by_sentence=True``, as on
        the command line, each sentence of a text is translated by itself.
        """
        self._needs_no_draft()
        return self._answer(text, "" if isinstance(text, str) else [""] * len(texts_of(text)), settings)

    @overload
    def refine(self, text: str, *, draft: str, **settings: Any) -> Result: ...
    @overload
    def refine(self, text: Sequence[str], *, draft: Sequence[str], **settings: Any) -> list[Result]: ...
    def refine(
        self, text: str | Sequence[str], *, draft: str | Sequence[str], **settings: Any
    ) -> Result | list[Result]:
        """Improve a draft of the target, or many.

        Beside the settings of ``translate``: parts of the draft to ``keep``, as texts or as (start, end) in
        characters, and places to open placeholders, ``insert_at={characters before: how many}``; one each
        per text where there are many. A post-editing model takes the settings of ``SearchOptions``.
        """
        self._can_refine()
        return self._answer(text, draft, settings)

    def edit_step(self, source: str, draft: str = "", **settings: Any) -> Result:
        """Exactly one delete–insert–fill round, for an editor: ``result.trace.iterations[0]`` is the round."""
        self._is_levt("edit one step at a time")
        if fixed := [name for name in ("max_iterations", "reread") if name in settings]:
            raise ConfigError(
                f"one step is one iteration and no more: it takes no {fixed[0]}", hint="model.refine does"
            )
        result = self._answer(
            checked_text(source), checked_text(draft), {**settings, "max_iterations": 1, "reread": False}
        )
        assert isinstance(result, Result)
        return result

    def translate_stream(self, texts: Iterable[str], **settings: Any) -> Iterator[Result]:
        """Results in order, as they come, for more texts than fit into memory; settings hold for every text."""
        self._needs_no_draft()
        if isinstance(texts, str):
            raise InputError("a stream is of many texts, got one string", hint="model.translate(text)")
        if self.kind != "levt":
            options = taken(options_of(self.kind), settings, kind=self.kind)
            return self._search(((text, "") for text in texts), options)
        rerank = self._rerank(settings.pop("teacher", None), settings.pop("candidates", None))
        pattern = wishes_of([""], [""], settings, single=True)[0]
        return self._refine((replace(pattern, source=text) for text in texts), rerank)

    def refine_stream(self, pairs: Iterable[tuple[str, str]], **settings: Any) -> Iterator[Result]:
        """The same for pairs of a source and a draft."""
        self._can_refine()
        if self.kind != "levt":
            return self._search(map(pair_of, pairs), taken(options_of(self.kind), settings, kind=self.kind))
        rerank = self._rerank(settings.pop("teacher", None), settings.pop("candidates", None))
        # Spans and places are those of each draft: there is none yet.
        steering = {name: settings.pop(name) for name in STEERING if name in settings}
        pattern = wishes_of([""], [""], settings, single=True)[0]
        given = map(pair_of, pairs)
        wishes = (replace(pattern, source=text, draft=draft, **steering) for text, draft in given)
        return self._refine(wishes, rerank)

    def run(
        self, wishes: Iterable[Wish], *, teacher: "Model | None" = None, candidates: Candidates | None = None
    ) -> Iterator[Result]:
        """Results of wishes, in order, as they come: steering may differ from text to text."""
        self._is_levt("be steered")
        return self._refine(map(checked_wish, wishes), self._rerank(teacher, candidates))

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[float]:
        """Mean log-probability of the tokens of each target, for a model that writes from left to right."""
        self._scores()
        return score_texts(self.engine, texts_of(sources), texts_of(targets), self.budget)

    def leave_early(self, **exits: int) -> "Model":
        """Let policies leave the decoder at these depths, for speed: ``model.leave_early(delete=1, placeholder=1)``."""
        leave_early(getattr(self.engine, "network", nn.Identity()), exits)
        return self

    def _answer(
        self, text: str | Sequence[str], draft: str | Sequence[str], settings: dict[str, Any]
    ) -> Result | list[Result]:
        single = isinstance(text, str)
        texts = [text] if isinstance(text, str) else texts_of(text)
        drafts = [draft] if isinstance(draft, str) else texts_of(draft)
        hint = "one text with one draft, or a list of texts with a list of drafts"
        if single != isinstance(draft, str):
            one, many = ("text", "draft") if single else ("draft", "text")
            raise InputError(f"there is one {one} and a list of {many}s", hint=hint)
        if len(texts) != len(drafts):
            raise InputError(
                f"there must be one draft per text, {len(texts)} here, got {len(drafts)}", hint=hint
            )
        if self.kind == "levt":
            settings = dict(settings)
            rerank = self._rerank(settings.pop("teacher", None), settings.pop("candidates", None))
            found = self._refine(wishes_of(texts, drafts, settings, single=single), rerank)
        else:
            if steering := [name for name in (*STEERING, "ordered", "teacher") if name in settings]:
                self._is_levt(f"be steered by {steering[0]}")
            options = taken(options_of(self.kind), settings, kind=self.kind)
            found = self._search(zip(texts, drafts, strict=True), options)
        results: list[Result] = []
        try:
            results += found
        except InputError as error:
            raise error if single else numbered(error, len(results)) from None
        return results[0] if single else results

    def _refine(self, wishes: Iterable[Wish], rerank: Rerank | None) -> Iterator[Result]:
        return self._in_windows(
            wishes,
            lambda wish: prepare(wish, self.engine),
            lambda jobs: refine_jobs(jobs, self.engine, self.budget, rerank),
        )

    def _search(self, pairs: Iterable[tuple[str, str]], options: AnyOptions) -> Iterator[Result]:
        return self._in_windows(
            pairs,
            lambda pair: prepare_search(*pair, options, self.engine),
            lambda tasks: search_tasks(tasks, self.engine, self.budget),
        )

    def _in_windows(
        self,
        items: Iterable[Item],
        prepared: Callable[[Item], list[Job]],
        answered: Callable[[list[Job]], list[Result]],
    ) -> Iterator[Result]:
        """Some texts at a time: tokens of all, batches by length, results in order.

        Where a text cannot be used, the results of all texts before it come first, then the error.
        """
        source = iter(items)
        trouble: LevtError | None = None
        while trouble is None:
            window: list[list[Job]] = []
            try:
                for item in islice(source, self.budget.window):
                    window.append(prepared(item))
            except LevtError as error:
                trouble = error
            if not window:
                break
            results = iter(answered([job for jobs in window for job in jobs]))
            for jobs in window:
                parts = [next(results) for _ in jobs]
                yield Result.joined(parts) if parts else Result.empty(self.engine.tokenizers.target)
        if trouble is not None:
            raise trouble

    def _rerank(self, teacher: Any, candidates: Any) -> Rerank | None:
        if teacher is None:
            if candidates is not None:
                raise ConfigError("candidates are chosen by a teacher", hint="teacher=levt.load(…)")
            return None
        if not isinstance(teacher, Model):
            raise ConfigError(
                f"a teacher must be a loaded model, got {teacher!r}", hint="teacher=levt.load(…)"
            )
        if not isinstance(candidates, Candidates | None):
            raise ConfigError(
                f"candidates must be Candidates, got {candidates!r}", hint="leave it out for the default"
            )
        teacher._scores()

        def scores(sources: Sequence[str], targets: Sequence[str]) -> list[float]:
            return score_texts(teacher.engine, sources, targets, teacher.budget, strict=False)

        return Rerank(scores, candidates or Candidates())

    def _scores(self) -> None:
        if self.kind not in ("autoregressive", "recurrent"):
            raise ConfigError(
                f"a model of kind {self.kind} cannot score texts", hint="an autoregressive model can"
            )

    def _needs_no_draft(self) -> None:
        if self.kind == "post-editing":
            raise ConfigError(
                "a post-editing model needs a draft",
                hint="`levt refine --draft FILE`, or model.refine(text, draft=…)",
            )

    def _can_refine(self) -> None:
        if self.kind not in ("levt", "post-editing"):
            raise ConfigError(f"a model of kind {self.kind} cannot refine a draft", hint="it can translate")

    def _is_levt(self, what: str) -> None:
        if self.kind != "levt":
            raise ConfigError(f"a model of kind {self.kind} cannot {what}", hint="a model of kind levt can")
