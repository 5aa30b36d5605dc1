"""Every name of post-editing from nothing to its page, at toy scale: the black box is a shell command."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy_corpus import toy_corpus, toy_experiment

from levt.data.mixture import Mixture
from levt.data.store import Store
from levt.errors import ConfigError, ModelError, StoreError
from levt.policy.folder import load_folder
from levt.recipes.experiment import as_json, run, training_store
from levt.recipes.post_editing_triples import Triples, files, read
from levt.recipes.reproduce import names, post_editing, reproduction
from levt.recipes.reproduce.framework.publish import publish
from levt.recipes.reproduce.framework.runner import Watch, run_chain
from levt.recipes.reproduce.framework.setting import Setting
from levt.recipes.reproduce.framework.step import Job, Step, chain, missing_files
from levt.recipes.reproduce.framework.workplace import Workplace
from levt.recipes.reproduce.parts.decoding import OUTPUTS
from levt.recipes.reproduce.parts.post_editing_systems import Chains
from levt.recipes.reproduce.parts.post_editing_task import FINE_TUNED, SCRATCH, TASKS, TOY_BOX
from levt.text.tokenizer import Tokenizer

pytest.importorskip("matplotlib")
NAMES = [name for name in names() if name.startswith("post-editing")]
SETTING = Setting(scale="toy")


class Silent(Watch):
    """Notes the steps that are done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def finished(self, step: Step, seconds: float) -> None:
        self.done.append(step.label)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """One folder for all names: what they share is done once."""
    return Workplace(tmp_path_factory.mktemp("work"))


@pytest.fixture(scope="module")
def pages(work: Workplace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The JSON beside every page."""
    out, found = tmp_path_factory.mktemp("pages"), {}
    done: list[str] = []
    for name in NAMES:
        one, silent = reproduction(name), Silent()
        goal = one.goal(SETTING)
        assert run_chain(goal, work, silent).complete
        done += silent.done
        page = publish(one, goal, work, SETTING, out)
        assert page.read_text("utf-8").startswith(f"# {one.title}")
        found[name] = json.loads((out / f"{name}.json").read_text("utf-8"))
    assert len(done) == len(set(done))
    return found


def test_the_names() -> None:
    assert NAMES == [
        "post-editing",
        "post-editing-effort",
        "post-editing-order",
        "post-editing-quality",
        "post-editing-timeout",
    ]


def test_the_table_has_every_system_and_the_dial_never_harms_here(pages: dict[str, Any]) -> None:
    values = pages["post-editing"]["values"]
    levts = ["LevT, scratch", "LevT, scratch, dial", "LevT, zero-shot", "LevT, zero-shot, dial"]
    assert [*values["toy-synthetic"]["rows"]] == ["do nothing", "Transformer", *levts]
    assert [*values["toy-real"]["rows"]] == [
        "do nothing", "Transformer", *levts, "LevT, fine-tuned", "LevT, fine-tuned, dial"
    ]  # fmt: skip
    for task in values.values():
        nothing = task["rows"]["do nothing"]
        assert nothing["changed %"] is None
        assert 0 < nothing["TER"] < 100
        for name, row in task["rows"].items():
            assert row["BLEU"] is not None
            if name.endswith("dial") and task["dials"][name] == [[1.0, 0.0]]:
                assert (row["BLEU"], row["TER"], row["changed %"]) == (nothing["BLEU"], nothing["TER"], 0)
    signatures = pages["post-editing"]["provenance"]["signatures"]
    assert any("tok:none" in one for one in signatures)
    assert any("case:mixed" in one and "tercom" in one for one in signatures)


def test_of_several_tries_the_dev_set_chooses(pages: dict[str, Any], work: Workplace) -> None:
    [_, real], chains = TASKS["toy"], Chains(SETTING)
    choices = pages["post-editing"]["values"]["toy-real"]["choices"]
    assert [*choices] == ["LevT, fine-tuned"]
    found = choices["LevT, fine-tuned"]
    assert {*found["dev TER"]} == {"near", "own"}
    assert found["dev TER"][found["chosen"]] == min(found["dev TER"].values())
    step = chains.system(real, FINE_TUNED)
    tried = next(one for one in step.before if one.label.endswith(found["chosen"]))
    model = Path("model") / "model.safetensors"
    assert (work.place(step) / model).read_bytes() == (work.place(tried) / model).read_bytes()
    ways = {one.label.rpartition(".")[2]: one for one in step.before}
    assert (ways["own"].config["own_deletions"], ways["near"].config["own_deletions"]) == (0.5, 0.0)
    assert [name for name in ways["own"].inputs if name.startswith("more.")] == ["more.0", "more.1"]


def test_some_tasks_share_their_steps_with_all() -> None:
    whole = {step.digest for step in chain(reproduction("post-editing").goal(SETTING))}
    some = chain(reproduction("post-editing").goal(replace(SETTING, tasks=("toy-synthetic",))))
    assert {step.digest for step in some} - whole == {some[-1].digest}
    with pytest.raises(ConfigError, match="no task 'table'"):
        reproduction("post-editing").goal(replace(SETTING, tasks=("table",)))
    with pytest.raises(ConfigError, match="none of these tasks has real triples"):
        reproduction("post-editing-quality").goal(replace(SETTING, tasks=("toy-synthetic",)))


def test_the_figures(pages: dict[str, Any]) -> None:
    timeouts = pages["post-editing-timeout"]["values"]
    assert {*timeouts} == {"translation", "post-editing"}
    assert all(len(by) == 3 for by in timeouts.values())
    effort = pages["post-editing-effort"]["values"]["toy-real"]
    assert [*effort] == ["do nothing", "accept", "delete", "ask"]
    orders = pages["post-editing-order"]["values"]
    assert {"LevT's edits, phase by phase", "the person's places, riskiest first"} <= {*orders}
    # The script corrects from right to left, but deletes a word before it inserts behind it: 4 of 6 pairs.
    assert orders["the person's places, right to left"]["same order %"] == pytest.approx(100 * 4 / 6)
    quality = pages["post-editing-quality"]["values"]
    assert {*quality} == {f"toy-real:{system}" for system in ("scratch", "zero-shot", "fine-tuned")}
    # Two of seven words of each draft are wrong.
    assert all(row["BAD words %"] == pytest.approx(100 * 2 / 7, abs=6) for row in quality.values())


def test_the_drafts_are_the_command_s(pages: dict[str, Any], work: Workplace) -> None:
    synthetic, real = TASKS["toy"]
    chains = Chains(SETTING)
    triples = read(files(work.place(chains.triples(synthetic)), "train"))
    assert TOY_BOX.startswith("command:")
    for source, draft, _ in triples.rows():
        assert draft.split() == [
            {"the": "der", "red": "rote", "bird": "Vogel", "sees": "sieht", "likes": "findet"}.get(word, word)
            for word in source.split()
        ]
    held = {
        source
        for split in ("dev", "test")
        for source in read(files(work.place(chains.triples(real)), split)).sources
    }
    store = Store.open(work.place(chains.corpus(real)) / "corpus" / "train")
    tokenizer = Tokenizer.load(work.place(chains.corpus(real)) / "corpus" / "tokenizer.json")
    assert held.isdisjoint(tokenizer.decode_batch([store.source(i).tolist() for i in range(len(store))]))


def test_real_triples_count_several_times_and_weights_come_from_translation(
    pages: dict[str, Any], work: Workplace
) -> None:
    [_, real], chains = TASKS["toy"], Chains(SETTING)
    for system in (SCRATCH, FINE_TUNED):
        step = chains.system(real, system)
        known = load_folder(work.place(step) / "model").config.training
        assert known is not None
        settings = known["settings"]
        assert settings["times"] == 2
        assert len(settings["more"]) >= 1
        assert (settings["init"] is not None) == (system == FINE_TUNED)
        assert settings["metric"] == "ter"


@pytest.mark.parametrize("scale", ["quick", "paper"])
@pytest.mark.parametrize("name", NAMES)
def test_larger_scales_are_whole_chains(name: str, scale: Any, tmp_path: Path) -> None:
    """Nothing is read: the files that a chain needs are named, each in the folder of its set."""
    goal = reproduction(name).goal(Setting(scale=scale, data=tmp_path))
    found = missing_files(goal)
    assert found
    assert all(path.parent.parent == tmp_path for path in found)
    ends = {path.parent.name for path in found}
    assert ("ape-it-en-de" if scale == "quick" else "wmt17-ape-en-de") in ends


def test_two_trainings_share_the_corpora() -> None:
    one, two = (reproduction("post-editing").goal(replace(SETTING, seeds=seeds)) for seeds in (1, 2))
    first, second = ({step.digest for step in chain(goal)} for goal in (one, two))
    assert len(second - first) > 5
    assert {step.digest for step in chain(one) if "triples" in step.label or "corpus" in step.label} <= second


def test_brackets_of_several_seeds_say_that_they_are_no_interval(tmp_path: Path) -> None:
    targets = [
        f"{word} old dogs run over the hill" for word in ("one", "two", "three", "four", "five", "six")
    ]
    drafts = [text.replace("old", "odd") for text in targets]
    Triples(targets, drafts, targets).write(files(tmp_path, "test"))
    wrote = {"1": [*targets[:2], *drafts[2:]], "2": [*targets[:4], *drafts[4:]]}
    inputs = {"triples": tmp_path}
    for seed, texts in wrote.items():
        inputs[f"scratch:{seed}"] = tmp_path / seed
        (tmp_path / seed).mkdir()
        known = json.dumps({"texts": texts, "choice": None})
        (tmp_path / seed / OUTPUTS).write_text(known, encoding="utf-8")
    job = Job(label="table", inputs=inputs, config={"seeds": 2, "samples": 100}, out=tmp_path)
    rows, known = post_editing.rows_of(job, {"name": "some", "systems": ["scratch"]})
    nothing, scratch = rows
    # TER: of 42 words 4 are wrong, or 2. What does not depend on a seed keeps its interval.
    assert scratch[2] == "7.14 (4.76–9.52 of 2 seeds)"
    assert scratch[4] == "50.00 (33.33–66.67 of 2 seeds)"
    assert scratch[5] == "0.00"
    assert nothing[2] == "14.29 (14.29–14.29)"
    assert known["rows"]["LevT, scratch"]["TER"] == pytest.approx(100 * 3 / 42)


def test_a_mixture_is_read_and_not_written(tmp_path: Path) -> None:
    first = toy_corpus(tmp_path / "first", draft=True, train=20)
    tokenizer = Tokenizer.load(first / "tokenizer.json")
    second = toy_corpus(tmp_path / "second", draft=True, train=30, tokenizer=tokenizer)
    experiment = toy_experiment(first, tmp_path / "run", more=(second,), times=3, training={"max_steps": 2})
    store = training_store(experiment)
    assert isinstance(store, Mixture)
    assert len(store) == 3 * 20 + 30
    assert run(experiment).step == 2
    assert {"times", "more"} <= as_json(experiment).keys()
    # Runs of before there were mixtures are the same runs.
    alone = replace(experiment, more=(), times=1)
    assert type(training_store(alone)) is Store
    assert not {"times", "more"} & as_json(alone).keys()
    # Another mixture is another run.
    with pytest.raises(ModelError, match="corpus was"):
        run(replace(experiment, times=4))
    with pytest.raises(ConfigError, match="times must be at least 1"):
        replace(experiment, times=0)
    pairs = toy_corpus(tmp_path / "pairs", train=20, tokenizer=tokenizer)
    with pytest.raises(StoreError, match="mix triples with triples"):
        training_store(replace(experiment, more=(pairs,)))
    with pytest.raises(StoreError, match="there is no corpus folder nowhere"):
        training_store(replace(experiment, more=(Path("nowhere"),)))
