"""Every text comes back, no typed text is a symbol, no output of a model can break decoding."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from levt.errors import ConfigError, InputError, ModelError
from levt.text.normalise import Normalisation
from levt.text.segmentation import BYTES, ESCAPE, SPACE
from levt.text.specials import SPECIALS, UNK
from levt.text.tokenizer import Tokenizer

CORPUS = [
    "A dog runs across the snow.",
    "Ein Hund läuft über den Schnee.",
    "Two women are talking; one of them laughs (12 times).",
    "コーヒーを飲みながら、本を読みます。",
    "Câinele aleargă prin zăpadă.",
    "tab\tand wide\u3000space, e\u0301 and \u00e9",
] * 20
# A corpus that tempts the learner to merge what reads like a symbol or a byte piece.
TEMPTING = [f"{name}{name} x{name}y {name}" for name in (*SPECIALS, "<0x41>", "<0xE2>", "▁", "\ue000")] * 50

UGLY = st.text(
    st.one_of(
        st.sampled_from(
            f"{SPACE}{ESCAPE}01 <>s/plhx4\t\n\r\x00\x85\u2028\u3000\u00a0\u200bé\u0301👩🏽‍🚀漢かカー🇩🇪"
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(CORPUS, 420)


@pytest.fixture(scope="module")
def tempted() -> Tokenizer:
    return Tokenizer.train(TEMPTING, 420)


@given(text=UGLY)
@settings(max_examples=400)
def test_every_text_comes_back(tokenizer: Tokenizer, tempted: Tokenizer, text: str) -> None:
    for one in (tokenizer, tempted):
        ids = one.encode(text)
        assert one.decode(ids) == one.normalise(text)
        assert min(ids, default=5) >= len(SPECIALS)
        assert bool(ids) == bool(text)


@given(texts=st.lists(UGLY, max_size=8))
@settings(max_examples=50)
def test_batches_are_as_one_by_one(tokenizer: Tokenizer, texts: list[str]) -> None:
    rows = tokenizer.encode_batch(texts)
    assert rows == [tokenizer.encode(text) for text in texts]
    assert tokenizer.decode_batch(rows) == [tokenizer.decode(row) for row in rows]


@given(ids=st.lists(st.integers(-3, 500), max_size=40))
@settings(max_examples=300)
def test_any_ids_decode(tempted: Tokenizer, ids: list[int]) -> None:
    text = tempted.decode(ids)
    text.encode()
    shown = [i for i in ids if len(SPECIALS) <= i < tempted.size]
    assert text == tempted.decode(shown)
    assert len(tempted.pieces(ids)) == len(ids)


def test_broken_bytes_become_replacement_characters(tokenizer: Tokenizer) -> None:
    euro = [tokenizer.id_of(BYTES[byte]) for byte in "€".encode()]
    assert tokenizer.decode(euro) == "€"
    assert tokenizer.decode(euro[:2]) == "\ufffd\ufffd"


@pytest.mark.parametrize("typed", [*SPECIALS, *BYTES[60:70], "<s></s>", "a<plh>b"])
def test_a_typed_symbol_is_plain_text(tempted: Tokenizer, typed: str) -> None:
    ids = tempted.encode(typed)
    assert min(ids) >= len(SPECIALS)
    assert tempted.decode(ids) == typed
    # and no learnt piece even contains one
    learnt = tempted.pieces(range(len(SPECIALS) + len(BYTES), tempted.size))
    assert not any(name in piece for piece in learnt for name in (*SPECIALS, *BYTES))


def test_ids_begin_with_symbols_and_bytes(tokenizer: Tokenizer) -> None:
    assert tokenizer.pieces(range(261)) == [*SPECIALS, *BYTES]
    assert [tokenizer.id_of(name) for name in SPECIALS] == list(range(5))
    assert tokenizer.id_of("never a piece") is None
    assert tokenizer.decode(range(5)) == ""


def test_pieces_keep_inside_words_scripts_and_digits(tokenizer: Tokenizer) -> None:
    for piece in tokenizer.pieces(range(261, tokenizer.size)):
        kinds = {
            "digit"
            if c.isdigit()
            else "kana"
            if "\u3040" <= c <= "\u30ff"
            else "letter"
            if c.isalpha()
            else "other"
            for c in piece.replace(SPACE, "")
        }
        assert len(kinds) <= 1
        assert SPACE not in piece.lstrip(SPACE)
    assert tokenizer.pieces(tokenizer.encode("12")) in ([SPACE + "1", "2"], [SPACE, "1", "2"])


def test_training_ignores_the_order_of_rare_characters_and_is_repeatable() -> None:
    assert Tokenizer.train(CORPUS, 420) == Tokenizer.train(iter(CORPUS), 420)
    assert Tokenizer.train(CORPUS, 420) != Tokenizer.train(CORPUS, 400)


def test_rare_characters_are_spelt_in_bytes() -> None:
    tokenizer = Tokenizer.train([*["plain words and nothing else"] * 500, "☃"], 400)
    assert tokenizer.id_of("☃") is None
    assert tokenizer.pieces(tokenizer.encode("☃"))[-3:] == ["<0xE2>", "<0x98>", "<0x83>"]


def test_size_is_kept() -> None:
    assert Tokenizer.train(CORPUS, 300).size == 300
    many = Tokenizer.train(["".join(map(chr, range(0x4E00, 0x4F00)))] * 2, 270)
    assert many.size <= 270
    with pytest.raises(ConfigError, match="larger than the 261"):
        Tokenizer.train(CORPUS, 261)


def test_no_lines_still_make_a_tokenizer() -> None:
    tokenizer = Tokenizer.train([], 300)
    assert tokenizer.decode(tokenizer.encode("été ▁")) == "été ▁"


def test_long_text_comes_back(tokenizer: Tokenizer) -> None:
    for text in ("a" * 200_000, " " * 100_000, "wörter und mehr " * 10_000, "\U0010fffd" * 20_000):
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("call", ["encode", "normalise", "encode_batch"])
def test_lone_surrogates_are_refused(tokenizer: Tokenizer, call: str) -> None:
    bad = "caf\udce9"
    with pytest.raises(InputError, match="lone surrogate"):
        getattr(tokenizer, call)([bad] if call == "encode_batch" else bad)
    with pytest.raises(InputError, match="lone surrogate"):
        Tokenizer.train([bad], 300)


def test_saved_file_is_read_by_the_tokenizers_package(tokenizer: Tokenizer, tmp_path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    for text in (*CORPUS[:6], "<s> ▁ \ue000 <0x41>"):
        ids = theirs.encode(text).ids
        assert ids == tokenizer.encode(text)
        assert theirs.decode(ids) == tokenizer.normalise(text)
    assert Tokenizer.load(path) == tokenizer
    assert os.listdir(tmp_path) == ["tokenizer.json"]


def test_fingerprint_ignores_layout(tokenizer: Tokenizer, tmp_path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")), indent=7), encoding="utf-8")
    assert Tokenizer.load(path).fingerprint == tokenizer.fingerprint


def test_damaged_files_are_refused(tokenizer: Tokenizer, tmp_path) -> None:
    path = tmp_path / "tokenizer.json"
    with pytest.raises(ModelError, match="cannot be read"):
        Tokenizer.load(path)
    tokenizer.save(path)
    whole = path.read_bytes()
    for damaged in (b"", b"{}", b"[1]", whole[: len(whole) // 2], whole[:-2], b"\xff" + whole):
        path.write_bytes(damaged)
        with pytest.raises(ModelError, match="tokenizer"):
            Tokenizer.load(path)
    foreign = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    foreign.save(str(path))
    with pytest.raises(ModelError, match="first ids are not <pad>"):
        Tokenizer.load(path)


def test_pickles(tokenizer: Tokenizer) -> None:
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again == tokenizer
    assert hash(again) == hash(tokenizer)
    assert again.encode(CORPUS[0]) == tokenizer.encode(CORPUS[0])


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
def test_a_fork_neither_hangs_nor_warns() -> None:
    script = """
import os
os.environ.pop("TOKENIZERS_PARALLELISM", None)
from levt.text.tokenizer import Tokenizer
tokenizer = Tokenizer.train(["one two three"] * 99, 300)
rows = tokenizer.encode_batch(["one two three"] * 999)
if (child := os.fork()) == 0:
    os._exit(0 if tokenizer.encode_batch(["one two three"] * 999) == rows else 1)
assert os.waitpid(child, 0)[1] == 0
assert tokenizer.encode_batch(["one two three"] * 999) == rows
"""
    # Python itself, from 3.12 on, warns of any fork beside threads; that of tokenizers is what is looked for.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_given_pieces() -> None:
    tokenizer = Tokenizer.from_pieces(["hel@@", "lo", "world"], continuation="@@")
    assert tokenizer.encode("hel@@ lo  world moon") == [5, 6, 7, UNK]
    assert tokenizer.decode([5, 6, 7]) == "hello world" == tokenizer.normalise("hel@@ lo world")
    assert tokenizer.decode([7, 5]) == "world hel"
    assert tokenizer.decode([1, 7, 3, 6, 2, 0, 99]) == "world lo"
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == ""
    for name in SPECIALS:
        assert tokenizer.encode(f"{name} lo {name} {name} {name}lo") == [UNK, 6, UNK, UNK, UNK]


@given(ids=st.lists(st.integers(5, 9)))
def test_given_pieces_come_back(ids: list[int]) -> None:
    tokenizer = Tokenizer.from_pieces(["a", "b@@", "@@", "\t", "▁c"])
    text = " ".join(tokenizer.pieces(ids))
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode(ids) == text == tokenizer.normalise(text)


@pytest.mark.parametrize(
    ("pieces", "continuation", "problem"),
    [(["a", "a"], None, "twice"), (["<s>"], None, "symbols"), (["a b"], None, "space"), (["a"], "", "mark")],
)
def test_bad_pieces_are_refused(pieces: list[str], continuation: str | None, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Tokenizer.from_pieces(pieces, continuation=continuation)


@pytest.mark.parametrize("form", ["NFC", "NFKC", "none"])
@given(text=UGLY)
@settings(max_examples=100)
def test_every_normalisation_comes_back(form, text: str) -> None:
    normalisation = Normalisation(form=form, lowercase=True, collapse_spaces=True)
    tokenizer = _trained(normalisation)
    assert tokenizer.normalise(text) == normalisation(text)
    assert tokenizer.decode(tokenizer.encode(text)) == normalisation(text)


_CACHE: dict[Normalisation, Tokenizer] = {}


def _trained(normalisation: Normalisation) -> Tokenizer:
    if normalisation not in _CACHE:
        _CACHE[normalisation] = Tokenizer.train(CORPUS, 400, normalisation=normalisation)
    return _CACHE[normalisation]
