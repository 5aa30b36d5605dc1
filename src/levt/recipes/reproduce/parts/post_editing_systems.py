"""The chain of a post-editing task: texts, black box, corpora, and the five systems of the paper's table.

do nothing      the drafts as they are
Transformer     reads source and draft together, writes from left to right; beam 4
scratch         LevT that learns from the triples, drafts as y⁰
zero-shot       LevT that learnt to translate, refining drafts
fine-tuned      the same, trained further on the triples
"""

from dataclasses import dataclass

from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Step
from levt.recipes.reproduce.parts.post_editing_corpora import (
    half_corpus,
    pairs_corpus,
    phrase_step,
    taught_corpus,
    trip_corpus,
    triples_corpus,
)
from levt.recipes.reproduce.parts.post_editing_language import Language
from levt.recipes.reproduce.parts.post_editing_pairs import pairs_step
from levt.recipes.reproduce.parts.post_editing_task import (
    FINE_TUNED,
    SCRATCH,
    TASKS,
    TRANSFORMER,
    ZERO_SHOT,
    PostEditingTask,
    Try,
    real_tasks,
)
from levt.recipes.reproduce.parts.post_editing_texts import (
    drafts_step,
    extra_step,
    real_step,
    redrafts_step,
    trip_step,
)
from levt.recipes.reproduce.parts.post_editing_training import chosen_step, system_step


@dataclass(frozen=True)
class Chains:
    """The steps of all post-editing tasks of a setting."""

    setting: Setting

    def pairs(self, language: Language) -> Step:
        """The pairs of a language."""
        return pairs_step(language, self.setting)

    def vocabulary(self, language: Language) -> Step:
        """The corpus of pairs, with the vocabulary of the language."""
        tasks = real_tasks(language, self.setting.scale) if language.with_real else []
        return pairs_corpus(language, self.pairs(language), [real_step(task, self.setting) for task in tasks])

    def teacher(self, language: Language) -> Step:
        """The Transformer whose texts the LevT of the language learn, where they learn from one; of the first seed."""
        return system_step(
            f"{language.name}.teacher", self.setting, self.vocabulary(language), "autoregressive", "translation",
            dropout=language.dropout, metric="bleu", separate=language.separate,
        )  # fmt: skip

    def taught(self, language: Language, corpus: Step) -> Step:
        """A corpus of the language with the targets that LevT learns from: its own, or those of the teacher."""
        if language.expert == "oracle":
            return corpus
        return taught_corpus(language, corpus, self.teacher(language))

    def translation(self, language: Language, seed: int = 1) -> Step:
        """The LevT that translates the language."""
        return system_step(
            f"{language.name}.translation", self.setting, self.taught(language, self.vocabulary(language)), "levt",
            "translation", dropout=language.dropout, seed=seed, metric="bleu", separate=language.separate,
        )  # fmt: skip

    def box(self, task: PostEditingTask) -> Step | str:
        """The black box of a synthetic task."""
        language, pairs = task.language, self.pairs(task.language)
        if task.black_box == "phrase":
            return phrase_step(language, pairs)
        if task.black_box == "recurrent":
            corpus = half_corpus(language, pairs, self.vocabulary(language))
            return system_step(
                f"{language.name}.recurrent",
                self.setting,
                corpus,
                "recurrent",
                "box",
                dropout=0.1,
                metric="bleu",
                separate=language.separate,
            )
        return task.black_box

    def triples(self, task: PostEditingTask) -> Step:
        """The triples of a task."""
        if task.real:
            return real_step(task, self.setting)
        seconds = 0.5 if task.language.toy else 60.0
        return drafts_step(task, self.pairs(task.language), self.box(task), seconds=seconds)

    def corpus(self, task: PostEditingTask) -> Step:
        """The triples of a task in tokens."""
        return triples_corpus(task, self.triples(task), self.vocabulary(task.language))

    def mixed_in(self, task: PostEditingTask, way: Try) -> list[Step]:
        """The other triples that a task is mixed with in some way."""
        found = {
            "synthetic": self.synthetic(task),
            "redrafted": self.redrafted(task),
            "round-trip": self.trip(task.language),
        }
        return [step for name in way.more if (step := found[name]) is not None]

    def trip(self, language: Language) -> Step:
        """Translation data with drafts of a round trip."""
        pairs = self.pairs(language)
        systems = (phrase_step(language, pairs, back=back) for back in (False, True))
        return trip_corpus(language, trip_step(language, pairs, *systems), self.vocabulary(language))

    def synthetic(self, task: PostEditingTask) -> Step | None:
        """Triples of a black box."""
        if task.extra:
            extra = extra_step(task, self.setting, self.triples(task))
            return triples_corpus(task, extra, self.vocabulary(task.language), part="extra-corpus")
        if task.mixed_with:
            return self.corpus(next(one for one in TASKS[self.setting.scale] if one.name == task.mixed_with))
        return None

    def redrafted(self, task: PostEditingTask) -> Step | None:
        """The real triples with other drafts."""
        if not task.redrafts:
            return None
        found = redrafts_step(task, self.triples(task))
        return triples_corpus(task, found, self.vocabulary(task.language), part="redrafted-corpus")

    def systems(self, task: PostEditingTask) -> list[str]:
        """The trained systems of a task; only real triples are worth fine-tuning for, as in the paper."""
        return [TRANSFORMER, SCRATCH, ZERO_SHOT, *([FINE_TUNED] if task.real else [])]

    def system(self, task: PostEditingTask, name: str, seed: int = 1) -> Step:
        """A trained system of a task; of several tries, the best on the dev set."""
        if name == ZERO_SHOT:
            return self.translation(task.language, seed)
        ways = task.tries.get(name, (Try(),))
        tried = {way.name: self.trained(task, name, way, seed) for way in ways}
        if len(tried) == 1:
            return next(iter(tried.values()))
        suffix = f".seed{seed}" if seed != 1 else ""
        return chosen_step(f"{task.name}.{name.lower()}{suffix}", tried)

    def trained(self, task: PostEditingTask, name: str, way: Try, seed: int) -> Step:
        """A system that was trained in some way; the Transformer learns from references, whoever teaches LevT."""
        corpus, language = self.corpus(task), task.language
        return system_step(
            f"{task.name}.{name.lower()}", self.setting,
            corpus if name == TRANSFORMER else self.taught(language, corpus),
            "post-editing" if name == TRANSFORMER else "levt",
            "fine-tuned" if name == FINE_TUNED else "real" if task.real else "synthetic",
            dropout=task.dropout, seed=seed, way=way, more=self.mixed_in(task, way), times=task.times,
            init=self.translation(language, seed) if name == FINE_TUNED else None, separate=language.separate,
        )  # fmt: skip
