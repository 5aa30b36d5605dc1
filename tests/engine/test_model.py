"""The Python API with tiny random models: order, batches, traces, steering, and what is refused."""

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import levt
from levt.edits.trace import Trace
from levt.engine.engine import Engine, engines
from levt.engine.result import Result
from levt.errors import ConfigError, InputError, ModelError
from levt.refine.options import Options
from levt.refine.wish import Wish
from tiny_models import LINES, TOKENIZERS, save_tiny, tiny

TEXTS = [
    *dict.fromkeys(LINES), "dog", "snow over snow over snow over snow", "", "  ", "Ünïcode 犬 \u2028 x", "a b c d e f",
    "the stone sleeps", "1 2 3", "cats, dogs, cats",
]  # fmt: skip


@pytest.fixture(scope="module")
def model() -> levt.Model:
    return tiny(seed=1)


@pytest.mark.parametrize("rows", [1, 2, 7, 64])
@pytest.mark.parametrize("kind", ["levt", "autoregressive", "recurrent"])
def test_batch_size_and_order_change_nothing(kind: str, rows: int) -> None:
    expected = [tiny(kind, seed=2).translate(text).text for text in TEXTS]
    assert len(set(expected)) > 4, "a model that always says the same proves nothing"
    order = random.Random(rows).sample(range(len(TEXTS)), len(TEXTS))
    results = tiny(kind, seed=2, rows=rows, window=5).translate([TEXTS[i] for i in order])
    assert [results[order.index(i)].text for i in range(len(TEXTS))] == expected


def test_traces_replay_and_specials_are_never_seen(model: levt.Model) -> None:
    for text, result in zip(TEXTS, model.translate(TEXTS), strict=True):
        assert result.trace.result == result.tokens
        assert all(token >= 5 for token in result.tokens)
        assert result.text == TOKENIZERS.target.decode(result.tokens) == result.trace.text
        assert result.pieces == tuple(TOKENIZERS.target.pieces(result.tokens))
        assert result.stopped in ("unchanged", "repeated", "cycle", "limit", "empty")
        assert result.iterations <= result.passes <= 3 * result.iterations
        saved = result.to_json()
        assert Trace.from_json(saved["trace"]) == result.trace
        if text.strip():
            assert all(0 <= p <= 1 for it in result.trace.iterations for p in it.fill_probs or ())
            assert result.trace.iterations[0].counts_probs is not None


def test_an_empty_text_asks_no_model() -> None:
    class Nobody:
        tokenizers, config = TOKENIZERS, tiny().engine.config

        def nothing(self, *_: object) -> None:
            raise AssertionError("somebody asked")

        encode = refine = search = score = nothing

    nobody: Engine = Nobody()  # type: ignore[assignment]
    result = levt.Model(nobody).translate("  \t ")
    assert (result.text, result.tokens, result.iterations, result.passes) == ("", (), 0, 0)
    assert levt.Model(nobody).translate(["", " "])[1].stopped == "empty"


def test_refine_with_everything(model: levt.Model) -> None:
    result = model.refine(
        "A dog runs over the snow.",
        draft="Ein Hund läuft über den Stein.",
        keep=["Ein Hund"],
        drop=["Stein"],
        terms=["Katzen", "Schnee"],
        insert_at={15: 1},
        min_edit=0.2,
        empty_gap_penalty=0.5,
        max_iterations=4,
    )
    assert "Ein Hund" in result.text
    assert "Katzen" in result.text
    assert "Schnee" in result.text
    assert "Stein" not in result.text.replace(".", " ").split()
    assert result.trace.result == result.tokens
    many = model.refine(
        ["A dog.", "Two cats."], draft=["Hund", "Zwei Katzen"], keep=[[], ["Zwei"]], terms=[["Schnee"], []]
    )
    assert "Schnee" in many[0].text
    assert "Zwei" in many[1].text


def test_leaving_alone(model: levt.Model) -> None:
    draft = "Ein Hund läuft."
    assert model.refine("A dog runs.", draft=draft, min_edit=1.0).text == draft


def test_one_step(model: levt.Model) -> None:
    result = model.edit_step("A dog runs.", "Ein Hund Hund", keep=["Ein"])
    step = result.trace.iterations[0]
    assert result.iterations == 1
    assert step.drop_probs is not None
    assert step.counts_probs is not None
    assert step.script.apply(result.trace.draft) == result.trace.replay()[1]
    assert model.edit_step("A dog runs.").trace.draft == ()


def test_streams_are_lazy_and_in_order(model: levt.Model) -> None:
    read = []

    def texts() -> Iterator[str]:
        for i in range(10**9):
            read.append(i)
            yield TEXTS[i % len(TEXTS)]

    small = levt.Model(model.engine, levt.Budget(window=4, rows=3))
    stream = small.translate_stream(texts(), max_iterations=2)
    expected = model.translate(TEXTS, max_iterations=2)
    for i in range(9):
        assert next(stream).text == expected[i].text
    assert len(read) == 12


def test_steering_may_differ_from_text_to_text(model: levt.Model) -> None:
    wishes = [
        Wish(source="A dog.", terms=("Hund",)),
        Wish(source=""),
        Wish(source="Two cats.", draft="Zwei", keep=("Zwei",), options=Options(max_iterations=1)),
    ]
    first, second, third = model.run(wishes)
    assert "Hund" in first.text
    assert second.text == ""
    assert "Zwei" in third.text
    assert third.iterations == 1


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_terms_always_appear(model: levt.Model, count: int) -> None:
    terms = ["Schnee", "warm Stein", "x", "Hündchen", "Ω"][:count]
    for ordered in (False, True):
        result = model.translate("A dog runs over the snow.", terms=terms, ordered=ordered)
        assert all(term in result.text for term in terms)
        assert result.trace.result == result.tokens


def test_errors_say_which_text(model: levt.Model) -> None:
    with pytest.raises(InputError, match="text 2: keep: the draft does not hold 'Hund'"):
        model.refine(["a", "b"], draft=["Hund", "Katze"], keep=[["Hund"], ["Hund"]])
    with pytest.raises(InputError, match=r"^keep: the draft does not hold"):
        model.refine("a", draft="Katze", keep=["Hund"])
    with pytest.raises(InputError, match="one draft per text, 2 here, got 1"):
        model.refine(["a", "b"], draft=["x"])
    with pytest.raises(InputError, match="terms must have one entry per text"):
        model.translate(["a", "b"], terms=["x", "y"])
    with pytest.raises(
        ConfigError, match="unknown setting 'max_iteration' for a model of kind levt"
    ) as error:
        model.translate("a", max_iteration=3)
    assert error.value.hint == "did you mean 'max_iterations'?"
    with pytest.raises(ConfigError, match="max_iterations must be at least 1"):
        model.translate("a", max_iterations=0)


CALLS = """
import sys
import levt
from tiny_models import tiny

model, writer = tiny(), tiny("autoregressive")
for call in (
    lambda: model.translate(None),
    lambda: model.translate(["a", None]),
    lambda: model.translate(text for text in "ab"),
    lambda: list(model.translate_stream("ab")),
    lambda: list(model.translate_stream([None])),
    lambda: list(writer.translate_stream([None])),
    lambda: model.refine("a", draft=None),
    lambda: model.refine("a", draft=["b"]),
    lambda: model.refine("a", draft="b", keep=[5]),
    lambda: model.refine("a", draft="b", keep=5),
    lambda: model.refine("a", draft="b", keep=(0, 1)),
    lambda: model.refine("a", draft="b", drop=[(0, "1")]),
    lambda: model.refine("a", draft="b", insert_at=[1]),
    lambda: model.refine("a", draft="b", insert_at={0: "1"}),
    lambda: model.refine("a", draft="b", insert_at={0: 10**30}),
    lambda: model.translate("a", terms=[1]),
    lambda: model.translate("a", terms=["b", "c"], ordered="no"),
    lambda: model.translate("a", reread="no", max_iterations=0),
    lambda: model.edit_step(["a"], ["b"]),
    lambda: list(model.run(["a"])),
    lambda: levt.Wish(source="a", options={"max_iterations": 3}),
    lambda: model.leave_early(delete=1.5, placeholder="1", token=9),
    lambda: model.translate("a", teacher="path"),
    lambda: model.translate("a", teacher=writer, candidates=3),
    lambda: writer.score("a", "b"),
    lambda: writer.score(["a"], ["b", "c"]),
):
    try:
        call()
    except levt.LevtError as error:
        assert error.hint, error
        print(error.message)
"""
SAID = """
there must be a list of texts, got None
a text must be a string, got None
there must be a list of texts, got <generator
a stream is of many texts, got one string
a text must be a string, got None
a text must be a string, got None
there must be a list of texts, got None
there is one text and a list of drafts
keep: must be texts or spans, got 5
keep: must be texts or spans, got 5
steering: 2 problems
  - keep: must be texts or spans, got 0
  - keep: must be texts or spans, got 1
drop: must be texts or spans, got (0, '1')
insert_at: must be places with counts, got [1]
insert_at: must be places with counts, got {0: '1'}
insert_at: a count must be at most 65535, got 1000000000000000000000000000000
terms: must be texts, got 1
ordered: must be True or False, got 'no'
options: 2 problems
  - max_iterations must be at least 1, got 0
  - reread must be True or False, got 'no'
a text must be a string, got ['a']
there must be wishes, got 'a'
options: must be Options, got {'max_iterations': 3}
early exit: 3 problems
  - the exit of delete must be a whole number, got 1.5
  - the exit of placeholder must be a whole number, got '1'
  - the exit of token must be at most 2, got 9
a teacher must be a loaded model, got 'path'
candidates must be Candidates, got 3
there must be a list of texts, got 'a'
there must be one target per source, 1 here, got 2
"""


def test_arguments_of_other_types_are_refused_in_words() -> None:
    # In a process of its own: here the types are checked before ours is asked.
    folder = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", CALLS], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for found, said in zip(done.stdout.splitlines(), SAID.strip("\n").splitlines(), strict=True):
        assert found.startswith(said)


def test_siblings_write_and_cannot_be_steered() -> None:
    writer = tiny("autoregressive", seed=4)
    result = writer.translate("A dog runs.", beam=4, n_best=3, length_penalty=0.6)
    assert len(result.alternatives) == 2
    assert result.trace.result == result.tokens
    assert result.stopped in ("ended", "limit")
    assert len(result.to_json()["alternatives"]) == 2
    for setting in ({"terms": ["x"]}, {"drop": ["x"]}, {"teacher": writer}):
        with pytest.raises(ConfigError, match="a model of kind autoregressive cannot be steered"):
            writer.translate("a", **setting)
    with pytest.raises(
        ConfigError, match="unknown setting 'max_iterations' for a model of kind autoregressive"
    ):
        writer.translate("a", max_iterations=3)
    with pytest.raises(ConfigError, match="cannot refine"):
        writer.refine("a", draft="b")
    with pytest.raises(ConfigError, match="cannot edit one step"):
        writer.edit_step("a", "b")


def test_post_editing() -> None:
    editor = tiny("post-editing", seed=5)
    results = editor.refine(["A dog.", "", "Two cats."], draft=["Ein Hund", "", "Katzen"], beam=2)
    assert [r.trace.draft for r in results] == [
        tuple(TOKENIZERS.target.encode(d)) for d in ("Ein Hund", "", "Katzen")
    ]
    assert all(r.trace.result == r.tokens for r in results)
    assert results[0].text == editor.refine("A dog.", draft="Ein Hund", beam=2).text
    with pytest.raises(ConfigError, match="needs a draft"):
        editor.translate("A dog.")


def test_a_teacher_chooses_the_most_probable_candidate(model: levt.Model) -> None:
    teacher = tiny("autoregressive", seed=6)
    for text in TEXTS[:4]:
        plain, best = model.translate(text), model.translate(text, teacher=teacher)
        [a, b] = teacher.score([text, text], [plain.text, best.text])
        assert b >= a
    chosen = model.translate(TEXTS[:4], teacher=teacher)
    assert any(r.text != model.translate(t).text for t, r in zip(TEXTS[:4], chosen, strict=True))
    steered = model.translate(TEXTS[0], teacher=teacher, terms=["Schnee"], candidates=levt.Candidates(gaps=1))
    assert "Schnee" in steered.text
    with pytest.raises(ConfigError, match="chosen by a teacher"):
        model.translate("a", candidates=levt.Candidates())
    with pytest.raises(ConfigError, match="cannot score"):
        model.translate("a", teacher=model)


def test_load_from_a_folder(tmp_path: Path, model: levt.Model) -> None:
    folder = save_tiny(tmp_path / "model", seed=1)
    loaded = levt.load(folder, device="cpu")
    assert loaded.kind == "levt"
    assert loaded.translate(TEXTS[0]).text == model.translate(TEXTS[0]).text
    assert isinstance(levt.load(str(folder), device="cpu", dtype="bfloat16").translate("A dog."), Result)
    assert isinstance(loaded.engine, Engine)
    assert "torch" in engines()
    with pytest.raises(ConfigError, match=r"engine must be one of .*torch.*, got 'steam'"):
        levt.load(folder, engine="steam")
    with pytest.raises(ConfigError, match="dtype must be one of"):
        levt.load(folder, device="cpu", dtype="int3")
    with pytest.raises(ConfigError, match="device must be"):
        levt.load(folder, device="abacus")
    with pytest.raises(ModelError, match="there is no model 'nosuch'"):
        levt.load("nosuch")


def test_a_gpu_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = save_tiny(tmp_path / "model")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    with pytest.raises(ConfigError, match="device is 'cuda:2', but torch sees GPUs up to 1"):
        levt.load(folder, engine="torch", device="cuda:2")


def test_the_public_surface() -> None:
    assert set(levt.__all__) <= set(dir(levt))
    for name in levt.__all__:
        assert getattr(levt, name) is not None
    stub = Path(levt.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    assert {*re.findall(r" as (\w+)", stub), "__version__"} == set(levt.__all__)
    with pytest.raises(AttributeError):
        levt.nosuch  # noqa: B018
    code = (
        "import sys, levt; assert 'torch' not in sys.modules; levt.Options; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kind", ["levt", "post-editing"])
def test_a_stream_of_pairs(kind: str) -> None:
    """What refine says of each pair, in order, however the pairs come; what is no pair is said to be none."""
    model = tiny(kind, seed=2, window=2)
    pairs = [(text, draft) for text, draft in zip(TEXTS, reversed(TEXTS), strict=True) if text.strip()]
    expected = [model.refine(text, draft=draft).text for text, draft in pairs]
    assert [result.text for result in model.refine_stream(iter(pairs))] == expected
    for wrong in ("ab", ("a",), ("a", "b", "c"), None):
        with pytest.raises(InputError, match="pairs of a source and a draft, got"):
            list(model.refine_stream(iter([wrong])))  # type: ignore[list-item]


def test_spans_and_places_are_those_of_each_draft_of_a_stream(model: levt.Model) -> None:
    pairs = [("A dog.", "Ein Hund"), ("Two cats.", "Zwei Katzen")]
    steering: dict[str, Any] = {"keep": [(0, 3)], "insert_at": {3: 1}}
    expected = [model.refine(text, draft=draft, **steering).text for text, draft in pairs]
    assert [result.text for result in model.refine_stream(pairs, **steering)] == expected


def test_one_step_is_one_iteration(model: levt.Model) -> None:
    for wrong in ({"max_iterations": 5}, {"reread": True}):
        with pytest.raises(ConfigError, match=f"one iteration and no more: it takes no {next(iter(wrong))}"):
            model.edit_step(LINES[0], **wrong)
