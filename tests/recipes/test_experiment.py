"""An experiment from corpus to model folder: what it writes, what it refuses, how it goes on."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_corpus import toy_corpus, toy_experiment, toy_model

import levt
from levt.data.preparation import Preparation
from levt.data.prepare import prepare
from levt.data.read import corpora
from levt.data.store import Store
from levt.errors import ConfigError, ModelError
from levt.evaluation.metrics import Metric
from levt.policy.folder import load_folder
from levt.recipes import experiment as module
from levt.recipes.beginning import loaded
from levt.recipes.experiment import Experiment, as_json, finished, run
from levt.recipes.reproduce.parts.toy import WORDS
from levt.text.tokenizer import Tokenizer
from levt.training.checkpoint import checkpoints
from levt.training.log import read_log


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_corpus(tmp_path_factory.mktemp("pairs"))


@pytest.fixture(scope="module")
def triples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_corpus(tmp_path_factory.mktemp("triples"), draft=True)


@pytest.mark.parametrize("kind", ["levt", "autoregressive", "recurrent", "post-editing"])
def test_every_kind_trains_and_can_be_used(kind: str, triples: Path, tmp_path: Path) -> None:
    experiment = toy_experiment(triples, tmp_path / "run", kind)
    standing = run(experiment)
    assert standing.step == 6
    assert standing.best is not None
    model = levt.load(tmp_path / "run" / "best")
    assert model.kind == kind
    source, draft = "the red bird sees a tree", "rote Vogel sieht"
    if kind != "post-editing":
        model.translate(source)
    if kind in ("levt", "post-editing"):
        model.refine(source, draft=draft)
    config = load_folder(tmp_path / "run" / "best").config
    assert config.training is not None
    assert config.training["settings"]["training"]["max_steps"] == 6
    assert config.training["step"] in (3, 6)
    assert "bleu" in config.training
    saved = json.loads((tmp_path / "run" / "experiment.json").read_text("utf-8"))
    assert saved == {**as_json(experiment), "dev_set": Store.open(triples / "dev").identity}


def test_drafts_of_the_dev_set_are_refined(
    triples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    for name in ("translate", "refine"):
        original = getattr(module.Model, name)

        def spy(
            self: object, *given: object, _name: str = name, _do: object = original, **more: object
        ) -> object:
            called.append(_name)
            return _do(self, *given, **more)  # type: ignore[operator]

        monkeypatch.setattr(module.Model, name, spy)
    run(toy_experiment(triples, tmp_path / "levt", training={"max_steps": 3}))
    run(toy_experiment(triples, tmp_path / "ar", "autoregressive", training={"max_steps": 3}))
    assert called == ["refine", "translate"]


@pytest.mark.parametrize("metric", ["ter", "rouge-2", "chrf"])
def test_the_metric_that_selects(metric: str, corpus: Path, tmp_path: Path) -> None:
    standing = run(toy_experiment(corpus, tmp_path / "run", metric=metric))
    records = [r for r in read_log(tmp_path / "run" / "log.jsonl") if r["event"] == "validate"]
    assert {r["name"] for r in records} == {metric}
    scores = [r["score"] for r in records]
    assert standing.best == (min if metric == "ter" else max)(scores)
    # A score of another metric is neither better nor worse.
    with pytest.raises(ConfigError, match=f"selects its best model by {metric}, and another metric"):
        run(toy_experiment(corpus, tmp_path / "run", training={"max_steps": 9}))


def test_words_are_found_as_the_language_needs_it(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Metric] = []

    def remembering(name: str, **settings: Any) -> Metric:
        asked.append(Metric(name=name, **settings))
        return asked[-1]

    monkeypatch.setattr(module, "metric", remembering)
    run(toy_experiment(corpus, tmp_path / "run", tokenize="char", training={"max_steps": 1}))
    assert asked == [Metric(name="bleu", tokenize="char")]
    # In a language without spaces all is one word: only by character is half of it right.
    assert asked[0].score(["abcdefgh"], ["abcdefxy"]) > 30
    assert Metric(name="bleu").score(["abcdefgh"], ["abcdefxy"]) == 0


def test_finished(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = toy_experiment(corpus, tmp_path / "run")
    assert not finished(experiment)
    run(experiment)
    assert finished(experiment)
    longer = dataclasses.replace(experiment, training=dataclasses.replace(experiment.training, max_steps=9))
    assert not finished(longer)
    # Killed at once: what the shorter run left does not make the longer one finished.
    monkeypatch.setattr(module.Trainer, "run", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(longer)
    monkeypatch.undo()
    assert not finished(longer)
    assert run(longer).step == 9
    assert finished(longer)
    (tmp_path / "run" / "finished.json").write_text("{", encoding="utf-8")
    assert not finished(longer)


@pytest.mark.parametrize("split", ["train", "dev"])
def test_a_run_on_other_texts_is_not_finished(tmp_path: Path, split: str) -> None:
    """The same folder, the same settings, and somebody has prepared the corpus anew."""
    corpus = toy_corpus(tmp_path / "corpus")
    experiment = toy_experiment(corpus, tmp_path / "run")
    run(experiment)
    record = tmp_path / "run" / "finished.json"
    older = json.loads(record.read_text("utf-8"))
    tokenizer = Tokenizer.load(corpus / "tokenizer.json")
    other = toy_corpus(
        tmp_path / "other", tokenizer=tokenizer, lines=["the old bear likes the old bear"] * 90
    )
    shutil.rmtree(corpus / split)
    shutil.copytree(other / split, corpus / split)
    assert not finished(experiment)
    # One from before texts were noted is taken at its word.
    record.write_text(json.dumps({k: v for k, v in older.items() if k not in ("examples", "dev_set")}))
    assert finished(experiment)


def test_another_corpus_of_the_same_size_is_refused(corpus: Path, tmp_path: Path) -> None:
    """As a distilled one is: same tokenizer, same number of examples, same dev set, other targets."""
    run(toy_experiment(corpus, tmp_path / "run"))
    tokenizer = Tokenizer.load(corpus / "tokenizer.json")
    lines = ["the old bear likes the old bear"] * 90
    other = toy_corpus(tmp_path / "other", tokenizer=tokenizer, lines=lines)
    shutil.rmtree(other / "dev")
    shutil.copytree(corpus / "dev", other / "dev")
    with pytest.raises(ModelError, match="belongs to a run with other settings: corpus was"):
        run(toy_experiment(other, tmp_path / "run"))
    with pytest.raises(ModelError, match=r"other settings: model\.width was \d+ and is 20\n"):
        run(toy_experiment(corpus, tmp_path / "run", model=toy_model("levt", width=20)))


def test_separate_vocabularies(tmp_path: Path) -> None:
    corpus = toy_corpus(tmp_path / "separate", separate=True)
    with pytest.raises(ConfigError, match=r"joint embeddings\nhint: --model.no-joint-embeddings"):
        run(toy_experiment(corpus, tmp_path / "run"))
    run(toy_experiment(corpus, tmp_path / "run", model=toy_model("levt", joint_embeddings=False)))
    assert levt.load(tmp_path / "run" / "best").translate("a small tree").stopped


def test_fine_tuning_begins_with_the_weights_and_its_own_dropout(corpus: Path, tmp_path: Path) -> None:
    run(toy_experiment(corpus, tmp_path / "first"))
    best = tmp_path / "first" / "best"
    model = toy_model("levt", dropout=0.4)
    tokenizers = module.Tokenizers(*module.load_tokenizers(corpus))
    network = loaded(best, module.sized(model, tokenizers), tokenizers)
    wanted = load_folder(best).model.state_dict()
    assert all(torch.equal(tensor, wanted[name]) for name, tensor in network.state_dict().items())
    block = network.encoder.blocks[0]  # type: ignore[union-attr, index]
    assert block.dropout == 0.4  # type: ignore[union-attr]
    assert block.self_attention.dropout == 0.0, "dropout of attention is another setting"  # type: ignore[union-attr]
    run(toy_experiment(corpus, tmp_path / "second", model=model, init=best))

    with pytest.raises(ConfigError, match="is another network: 2 problems") as caught:
        run(toy_experiment(corpus, tmp_path / "x", model=toy_model("levt", width=20, hidden=16), init=best))
    assert "width is 16 there and 20 here" in str(caught.value)
    with pytest.raises(
        ConfigError, match="is a model of kind levt, this is one of kind autoregressive"
    ) as caught:
        run(toy_experiment(corpus, tmp_path / "x", "autoregressive", init=best))
    assert "hint: a recipe of its kind; " in str(caught.value)
    other = toy_corpus(tmp_path / "other", lines=["zebra quagga okapi"] * 90)
    with pytest.raises(ModelError, match="has another vocabulary than the corpus"):
        run(toy_experiment(other, tmp_path / "x", init=best))


def test_a_run_that_goes_on_says_that_it_keeps_its_own_weights(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(toy_experiment(corpus, tmp_path / "first"))
    best = tmp_path / "first" / "best"
    steps = toy_experiment(corpus, tmp_path).training.max_steps
    capsys.readouterr()
    run(toy_experiment(corpus, tmp_path / "first", init=best, training={"max_steps": steps + 1}))
    said = "".join(capsys.readouterr().err.split())
    assert f"resumingatstep{steps};weights:itsown,notthoseof{best}" in said


def test_a_levt_begins_as_its_teacher(corpus: Path, tmp_path: Path) -> None:
    run(toy_experiment(corpus, tmp_path / "teacher", "autoregressive"))
    best = tmp_path / "teacher" / "best"
    tokenizers = module.Tokenizers(*module.load_tokenizers(corpus))
    network = loaded(best, module.sized(toy_model("levt"), tokenizers), tokenizers)
    known, found = load_folder(best).model.state_dict(), network.state_dict()
    assert torch.equal(found["encoder.blocks.0.self_attention.qkv.weight"],
                       known["encoder.blocks.0.self_attention.qkv.weight"])  # fmt: skip
    run(toy_experiment(corpus, tmp_path / "student", init=best))


def test_a_corpus_that_does_not_fit_is_refused_before_any_work(triples: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="too short for the corpus") as caught:
        run(toy_experiment(triples, tmp_path / "run", model=toy_model("levt", max_length=8)))
    assert "hint: raise --model.max-length" in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_the_drafts_of_the_dev_set_are_looked_at_before_any_work(triples: Path, tmp_path: Path) -> None:
    def of(train: Path, dev: Path) -> Path:
        """A corpus whose dev set is that of another with the same tokenizer."""
        made = tmp_path / f"{train.parent.name}-{dev.parent.name}"
        shutil.copytree(train, made)
        shutil.rmtree(made / "dev")
        shutil.copytree(dev / "dev", made / "dev")
        return made

    tokenizer = module.load_tokenizers(triples)[0]
    pairs = toy_corpus(tmp_path / "alike", tokenizer=tokenizer)
    with pytest.raises(ConfigError, match="reads drafts, and the dev set of this corpus has none"):
        run(toy_experiment(of(triples, pairs), tmp_path / "run", "post-editing"))

    long = tmp_path / "long.tsv"
    long.write_text("a tree\t" + 99 * "tree " + "\ta tree\n", encoding="utf-8")
    splits = {"train": corpora([long]), "dev": corpora([long])}
    prepare(tmp_path / "long" / "corpus", splits, Preparation(max_length=500), tokenizer=tokenizer)
    mixed = of(pairs, tmp_path / "long" / "corpus")
    with pytest.raises(ConfigError, match="the longest draft of dev has"):
        run(toy_experiment(mixed, tmp_path / "run"))
    assert not (tmp_path / "run").exists()
    assert run(toy_experiment(mixed, tmp_path / "ar", "autoregressive")).best is not None, "reads no drafts"


@pytest.mark.parametrize("wrong", [{"dev_limit": 0}, {"beam": 0}, {"times": 0}, {"device": "gpu"}])
def test_what_would_fail_at_the_first_validation_is_refused_at_once(
    wrong: dict[str, Any], corpus: Path, tmp_path: Path
) -> None:
    [name] = wrong
    with pytest.raises(ConfigError, match=f"{name} must be"):
        run(toy_experiment(corpus, tmp_path / "run", "autoregressive", **wrong))
    assert not (tmp_path / "run").exists()


def test_without_a_dev_set_the_last_model_is_the_best(corpus: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(corpus, bare)
    shutil.rmtree(bare / "dev")
    experiment = toy_experiment(bare, tmp_path / "run")
    assert run(experiment).best is None
    config = load_folder(tmp_path / "run" / "best").config
    assert config.training is not None
    assert config.training["step"] == 6
    assert finished(experiment)


def test_given_pieces(tmp_path: Path) -> None:
    """A corpus cut into pieces elsewhere is validated on those pieces, not on text joined from them."""
    words = sorted({*WORDS, *WORDS.values()})
    corpus = toy_corpus(tmp_path / "pieces", tokenizer=Tokenizer.from_pieces(words))
    rows = [[5, 7], [9]]
    tokenizer = Tokenizer.load(corpus / "tokenizer.json")
    texts = module.as_input(tokenizer, rows)
    assert [tokenizer.encode(text) for text in texts] == rows
    assert run(toy_experiment(corpus, tmp_path / "run")).best is not None


def test_an_interrupted_experiment_goes_on(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = toy_experiment(corpus, tmp_path / "whole", training={"ema": 0.9})
    run(whole)

    def stopping(experiment: Experiment) -> None:
        original = module.save_best

        def save(*given: object) -> None:
            original(*given)  # type: ignore[arg-type]
            raise KeyboardInterrupt  # between the best model and its checkpoint

        monkeypatch.setattr(module, "save_best", save)
        with pytest.raises(KeyboardInterrupt):
            run(experiment)
        monkeypatch.setattr(module, "save_best", original)

    pieces = toy_experiment(corpus, tmp_path / "pieces", training={"ema": 0.9})
    stopping(pieces)
    run(pieces)
    weights = [
        (checkpoints(out)[-1] / "weights.safetensors").read_bytes()
        for out in (tmp_path / "whole", tmp_path / "pieces")
    ]
    assert weights[0] == weights[1]
    models = [load_folder(e.out / "best").model.state_dict() for e in (whole, pieces)]
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
