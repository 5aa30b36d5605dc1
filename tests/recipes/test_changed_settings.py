"""A run that goes on with other settings: what would make it neither of both is refused, the rest is told."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from toy_corpus import toy_corpus, toy_experiment

from levt.errors import ConfigError
from levt.imitation.drafts import Drafts
from levt.imitation.masked_lessons import MaskedTeaching
from levt.imitation.objective import ObjectiveConfig
from levt.imitation.roll_in import RollIn
from levt.recipes.experiment import Experiment, as_json, check_ahead, run
from levt.recipes.going_on import PACE, SETTINGS, changes_told
from levt.refine.options import Options
from levt.text.tokenizer import Tokenizer
from levt.training.config import TrainingConfig

NOT_LEARNED_FROM = {
    "tokens", "seed",  # in the identity of a checkpoint
    "max_steps", "max_minutes", "patience",  # how long
    "compile", "capture", "sharding", "backend",  # how it is computed
    "validate_every", "save_every", "keep", "average", "max_bad_steps", "log_every",  # what is kept and said
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def begun(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    """A run of three steps, which is over."""
    experiment = toy_experiment(corpus, tmp_path_factory.mktemp("begun"), training={"max_steps": 3})
    run(experiment)
    return experiment


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"roll_in": RollIn(alpha=0.7)}, "roll_in.alpha was 0.5 and is 0.7"),
        ({"roll_in": RollIn(fill="argmax")}, "roll_in.fill was 'sample' and is 'argmax'"),
        ({"roll_in": RollIn(drafts=Drafts(noisy=0.5))}, "roll_in.drafts.noisy was 0.0 and is 0.5"),
        (
            {"objective": ObjectiveConfig(label_smoothing=0.2, own_deletions=1.0)},
            "objective.label_smoothing was 0.1 and is 0.2, objective.own_deletions was 0.0 and is 1.0",
        ),
        ({"options": Options(empty_gap_penalty=1.0)}, "options.empty_gap_penalty was 0.0 and is 1.0"),
        ({"dev_limit": 7}, "dev_limit was 2000 and is 7"),
    ],
)
def test_what_is_learned_and_how_it_is_judged_stays(
    begun: Experiment, changed: dict[str, Any], told: str
) -> None:
    files = {path: path.read_bytes() for path in begun.out.rglob("*") if path.is_file()}
    longer = dataclasses.replace(begun.training, max_steps=6)
    for training in (begun.training, longer):  # over or not
        with pytest.raises(ConfigError) as error:
            run(dataclasses.replace(begun, training=training, **changed))
        assert error.value.message.endswith(f": {told}")
        assert error.value.hint == "use another --out folder, or the settings of that run"
    assert files == {path: path.read_bytes() for path in begun.out.rglob("*") if path.is_file()}


def test_what_a_kind_does_not_use_may_change(corpus: Path, tmp_path: Path) -> None:
    experiment = toy_experiment(corpus, tmp_path / "ar", "autoregressive", training={"max_steps": 1})
    run(experiment)
    changed = dataclasses.replace(experiment, roll_in=RollIn(alpha=1.0), options=Options(max_iterations=2))
    assert changes_told(changed.out, as_json(changed)) == ""
    with pytest.raises(ConfigError, match="beam was 1 and is 2"):
        run(dataclasses.replace(experiment, beam=2))
    with pytest.raises(ConfigError, match=r"objective\.label_smoothing was 0\.1 and is 0\.0"):
        run(dataclasses.replace(experiment, objective=ObjectiveConfig(label_smoothing=0.0)))


def test_how_other_kinds_are_taught_stays(corpus: Path, tmp_path: Path) -> None:
    experiment = toy_experiment(corpus, tmp_path / "masked", "masked", training={"max_steps": 1})
    run(experiment)
    usual = dataclasses.replace(experiment, teaching=MaskedTeaching())
    assert changes_told(usual.out, as_json(usual)) == ""  # None is the usual
    [name, *_] = [one.name for one in dataclasses.fields(MaskedTeaching)]
    other = dataclasses.replace(MaskedTeaching(), **{name: getattr(MaskedTeaching(), name) * 0.5})
    with pytest.raises(ConfigError, match=rf"teaching\.{name} was"):
        run(dataclasses.replace(experiment, teaching=other))


def test_corpora_to_be_repaired_are_not_just_more(corpus: Path, tmp_path: Path) -> None:
    """The same examples in the same order, so the checkpoint cannot know."""
    made = RollIn(drafts=Drafts(noisy=0.5))
    mixed = toy_experiment(corpus, tmp_path, more=(corpus,), roll_in=made, training={"max_steps": 1})
    run(mixed)
    with pytest.raises(ConfigError, match="repair was 0 and is 1"):
        run(dataclasses.replace(mixed, more=(), repair=(corpus,)))


def test_another_pace_is_told(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = toy_experiment(corpus, tmp_path, training={"max_steps": 2})
    run(first)
    capsys.readouterr()
    training = dataclasses.replace(
        first.training, max_steps=4, learning_rate=0.001, accumulate=2, ema=0.9, log_every=3
    )
    run(dataclasses.replace(first, training=training))
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "resuming at step 2; accumulate: 2 (before: 1); learning_rate: 0.001 (before: 0.01); "
        "ema: 0.9 (before: 0.0) "
    ) in said
    # The settings last begun with are those compared; where the rate falls to 0, the end changes it.
    falling = dataclasses.replace(training, schedule="cosine", max_steps=6)
    assert changes_told(tmp_path, as_json(dataclasses.replace(first, training=falling))) == (
        "; schedule: cosine (before: inverse-sqrt); max_steps: 6 (before: 4)"
    )


def with_dev_set(corpus: Path, folder: Path, number: int | None) -> Path:
    """A copy of a corpus whose dev set is another one of six sentences, or none."""
    shutil.copytree(corpus, folder)
    shutil.rmtree(folder / "dev")
    if number is not None:
        other = toy_corpus(
            folder / "other", train=number, tokenizer=Tokenizer.load(corpus / "tokenizer.json")
        )
        shutil.copytree(other / "dev", folder / "dev")
    return folder


@pytest.mark.parametrize(("number", "found"), [(40, "that of {} is another"), (None, "{} has none")])
def test_scores_of_two_dev_sets_are_not_compared(
    begun: Experiment, corpus: Path, tmp_path: Path, number: int | None, found: str
) -> None:
    other = with_dev_set(corpus, tmp_path / "other", number)
    before = (begun.out / SETTINGS).read_bytes()
    for steps in (3, 6):  # over or not
        training = dataclasses.replace(begun.training, max_steps=steps)
        changed = dataclasses.replace(begun, corpus=other, training=training)
        for refused in (run, check_ahead):
            with pytest.raises(ConfigError) as error:
                refused(changed)
            assert error.value.message == (
                f"{begun.out} selects its best model by scores of its dev set, and {found.format(other)}"
            )
            assert error.value.hint == "use another --out folder, or the corpus of that run as it was"
    assert (begun.out / SETTINGS).read_bytes() == before


def test_the_same_dev_set_elsewhere_is_the_same(begun: Experiment, corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(begun.out, tmp_path / "run")
    same = with_dev_set(corpus, tmp_path / "same", 90)
    assert run(dataclasses.replace(begun, corpus=same, out=tmp_path / "run")).step == 3


def test_a_run_whose_dev_set_nobody_noted_goes_on_and_notes_it(
    begun: Experiment, corpus: Path, tmp_path: Path
) -> None:
    """As runs of an older levt, and such as had no dev set."""
    other = with_dev_set(corpus, tmp_path / "other", 40)
    for number, note in enumerate(({}, {"dev_set": None})):
        out = tmp_path / str(number)
        shutil.copytree(begun.out, out)
        (out / SETTINGS).write_text(json.dumps({**as_json(begun), **note}))
        longer = dataclasses.replace(begun.training, max_steps=4)
        assert run(dataclasses.replace(begun, corpus=other, out=out, training=longer)).step == 4
        with pytest.raises(ConfigError, match="scores of its dev set"):
            run(dataclasses.replace(begun, out=out, training=longer))


def test_every_setting_of_training_has_been_thought_of() -> None:
    assert {one.name for one in dataclasses.fields(TrainingConfig)} == {*PACE, *NOT_LEARNED_FROM}


def test_runs_of_an_older_levt_go_on(begun: Experiment, tmp_path: Path) -> None:
    """Their settings lack what came later, which is as usual."""
    now = as_json(begun)
    for gone in ("roll_in", "objective", "options", "training"):
        (tmp_path / "checkpoints" / "step-00000003").mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkpoints" / "step-00000003" / "state.json").write_text("{}")
        for name in now[gone]:
            known = {**now, gone: {one: value for one, value in now[gone].items() if one != name}}
            (tmp_path / SETTINGS).write_text(json.dumps(known))
            # Nothing is refused; the pace of this run is not the usual one.
            assert changes_told(tmp_path, now).count("before") <= 1
    for broken in ("[]", "{", "3"):
        (tmp_path / SETTINGS).write_text(broken)
        assert changes_told(tmp_path, now) == ""
