"""Every verb, given a bad file (missing, a folder, empty, no text) or a bad value: it says which, and what to do."""

import io
import shutil
from pathlib import Path

import pytest
from cli_runs import toy

from levt.cli import main
from tiny_models import save_tiny

TEXTS = {
    "two.en": "A dog runs.\nIt snows.\n",
    "two.de": "Ein Hund läuft.\nEs schneit.\n",
    "empty.txt": "",
    "identity": "A dog runs.\n",
    "other.json": "{}",
    "syntax.py": "def f(:\n",
    "nothing.py": "",
    "broken.py": "import sys\nimport no_such_package\n",
    "token.txt": "secret",
}
READS = {
    "missing": "does not exist",
    "folder": "is a folder, not a file",
    "no-text": "not UTF-8 (invalid start byte at byte 1)",
}
"""What is said of a file of texts that cannot be read."""
MODELS = {
    "missing": "there is no model 'missing'",
    "folder": "folder is not a model folder",
    "no-text": "no-text is a file, and a model is a folder",
}
CORPORA = {
    "missing": "there is no corpus folder missing",
    "folder": "folder is no corpus: it has no tokenizer.json",
    "no-text": "no-text is no corpus: it is a file",
}
CALLS = {
    "translate --model levt --terms BAD": READS,
    "refine --model levt --draft BAD": READS,
    "bench levt --seconds 0.1 --input BAD": READS,
    "bench levt --seconds 0.1 --input two.en --reference BAD": READS,
    "evaluate --hypothesis BAD --reference two.de": READS,
    "tune levt --dev BAD two.de": READS,
    "tune levt --dev two.en two.de --draft BAD": READS,
    "synthesize halves --train BAD two.de --out new": READS,
    "synthesize drafts --train BAD two.de --black-box command:cat --out new": READS,
    "blackbox train-phrase --train BAD two.de --out new": READS,
    "translate --model BAD": MODELS,
    "translate --model levt --teacher BAD": MODELS,
    "refine --draft two.de --model BAD": MODELS,
    "show text --model BAD": MODELS,
    "serve BAD": MODELS,
    "bench BAD": MODELS,
    "inspect BAD": MODELS,
    "tune BAD --dev two.en two.de": MODELS,
    "distill BAD toy/corpus --out new": MODELS,
    "convert compact BAD --out new": MODELS,
    "convert onnx BAD --out new": MODELS,
    "train toy/toy.py:levt --out new --corpus BAD": CORPORA,
    "chain toy/toy.py:ar toy/toy.py:levt --out new --corpus BAD": CORPORA,
    "distill levt BAD --out new": CORPORA,
}
OTHERS = {
    "serve levt --token-file missing": "the token file missing cannot be read: No such file or directory",
    "serve levt --token-file no-text": "the token file no-text cannot be read: not UTF-8",
    "serve levt --host no.such.host.invalid --port 0 --token-file token.txt": "is not an address of this machine",
    "serve ar": "a model of kind autoregressive cannot be served",
    "refine --model ar --draft two.de": "a model of kind autoregressive cannot refine a draft",
    "refine --model levt": "there are no drafts to refine",
    "translate --model levt --terms empty.txt": "empty.txt has no such line",
    "translate --model levt --input two.en --output two.de": "two.de cannot be written: Not a directory",
    "translate two.en --model levt": "reads its lines from standard input\nhint: levt translate --model levt < two.en",
    "translate folder --model levt": "standard input\nhint: levt translate --model levt --input folder --output FOLDER",
    "refine missing --draft two.de": "and missing does not exist\nhint: levt refine --draft two.de < FILE",
    "translate --model levt --batch-size 0": "batch_size must be at least 1, got 0",
    "translate --model levt --batch-size 99999999999999999999": "batch_size must be at most 1048576",
    "translate --model levt --empty-gap-penalty nan": "empty_gap_penalty must be between -10 and 10, got nan",
    "translate --model levt --max-iterations -2": "max_iterations must be at least 1, got -2",
    "translate --model ar --beam 99999999": "beam must be at most 1024",
    "translate --model levt --input two.en": "shards need both --input and --output",
    "refine --model levt --draft empty.txt --min-edit inf": "min_edit must be between 0 and 1, got inf",
    "serve levt --seconds inf": "seconds must be above 0 and finite, got inf",
    "parity missing": "cannot be read: missing/expected.json: No such file or directory",
    "parity folder": "cannot be read: folder/expected.json: No such file or directory",
    "blackbox translate http://127.0.0.1:1": "http://127.0.0.1:1 cannot be reached: Connection refused",
    "synthesize halves --train empty.txt empty.txt --out new": "empty.txt has too few lines to be halved: 0 and 0",
    "synthesize drafts --train empty.txt empty.txt --black-box command:cat --out new": "there is nothing to translate",
    "convert fairseq no-text --dict two.en --out new": "no-text: not a readable checkpoint",
    "convert compact levt --out two.de": "two.de is a file, and a model is a folder",
    "evaluate --hypothesis two.en --reference empty.txt": "files must have as many lines as each other",
    "blackbox train-phrase --train two.en two.de --dev empty.txt empty.txt --out new": "there is nothing to tune on",
    "bench levt --input empty.txt": "empty.txt is empty",
    "bench levt --reference two.de": "references are of an input",
    "prepare --train two.en two.de --tokenizer missing --out new": "missing cannot be read: No such file or directory",
    "prepare --train no-text two.de --out new": "not UTF-8",
    "prepare --train two.en two.de --out two.de": "two.de exists already",
    "train toy/toy.py:levt --corpus toy/corpus --out two.de": "two.de: File exists",
    "train toy/toy.py:levt --corpus toy/corpus --out new --init no-text": "there is no model folder no-text",
    "train syntax.py:f": "syntax.py, line 1: SyntaxError: ",
    "train broken.py:f": "broken.py, line 2: ModuleNotFoundError: No module named 'no_such_package'",
    "train nothing.py": "nothing.py has no recipe",
    "train multi30k-levd": "unknown recipe 'multi30k-levd'\nhint: did you mean multi30k-levt or ",
    "synthesize drafts --train two.en two.de --black-box phrase:missing --out kept": "missing holds no phrase-based",
    "synthesize mix --synthetic missing --real missing --out new": "triples are three files",
    "show text --model levt --html missing/page.html": "cannot write missing/page.html",
    "demo --html folder": "cannot write folder: it is a folder",
}
VALUES = {
    "translate --model levt --dtype float64": "dtype must be one of float32, ",
    "translate --model levt --device meta": "device must be cpu, cuda or cuda:N, got 'meta'",
    "translate --model levt --device banana": "device must be cpu, cuda or cuda:N, got 'banana'",
    "translate --model levt --engine steam": "engine must be one of auto, ",
    "translate --model levt --engine native --dtype float16": "dtype must be int8 or float32",
    "translate --model levt --engine onnx --dtype float16": "dtype must be one of float32, int8 for ONNX graphs",
    "translate --server http://127.0.0.1:1 --device cpu": "--device is not for a server",
    "translate --server ftp://levt": "a server is named http://HOST:PORT, got 'ftp://levt'",
    "translate --model levt --input two.en --output new --processes 0": "processes must be at least 1, got 0",
    "translate --model levt --shard-lines 7": "--shard-lines is for shards",
    "translate --server http://127.0.0.1:1 --shard-lines 7": "--shard-lines is not for a server",
    "translate --model levt --input two.en --output new --shard-lines 0": "shard-lines must be at least 1, got 0",
    "translate --model levt --input two.en --output new --ray-address auto": "--ray-address is for --engine ray",
    "translate --model levt --input two.en --output new --engine ray --processes 0": "workers must be at least 1",
    "translate --model levt --ordered": "--ordered is for terms, and there are none",
    "translate --server http://127.0.0.1:1 --ordered": "--ordered is for terms, and there are none",
    "refine --model levt --draft two.de --ordered --keep Hund": "--ordered is for terms, and there are none",
    "translate --model levt --keep=": "--keep: a text must not be blank, got ''",
    "translate --server http://127.0.0.1:1 --drop=": "--drop: a text must not be blank, got ''",
    "refine --model levt --draft two.de --keep=": "--keep: a text must not be blank, got ''",
    "translate --model ar --n-best 3": "--n-best is for the JSON",
    "refine --model levt --draft two.de --n-best 1": "--n-best is for the JSON",
    "translate --model ar --beam 2 --json --n-best 3": "n_best must be between 1 and beam (2), got 3",
    "serve levt --device cpu --port 99999": "port must be between 0 and 65535, got 99999",
    "serve levt --device cpu --threads 0": "threads must be at least 1, got 0",
    "bench levt --device cpu --engine torch --delete-exit 99": "the exit of delete must be at most ",
    "evaluate --hypothesis - --reference -": "only one file can be -, which is stdin",
    "evaluate --hypothesis two.de --reference two.de --confidence --samples 5": "samples must be at least 40",
    "evaluate --hypothesis two.de --reference two.de --samples 500": "--samples is for --confidence",
    "evaluate --hypothesis two.de --reference two.de --samples 1000": "--samples is for --confidence",
    "evaluate --hypothesis two.de --reference two.de --metric chrf --tokenize char": "is heeded by none of chrf",
    "evaluate --hypothesis two.de --reference two.de --metric ter --tokenize intl": "is heeded by none of",
    "tune levt --dev two.en two.de --metric ter --tokenize 13a": "tokenize '13a' is heeded by none of ter",
    "tune levt --dev two.en two.de --penalties 4": "penalties must be between 0 and 3, got 4.0",
    "tune ar --dev two.en two.de --draft two.de": "a model of kind autoregressive has no min_edit to tune",
    "prepare --train two.en two.de --out new --processes 0": "processes must be at least 1, got 0",
    "prepare --train two.en two.de --out new --max-length 1": "max_length must be at least 3, got 1",
    "prepare --train two.en two.de --out new --strict --skip-broken": "strict and skip_broken exclude each other",
    "prepare --train two.en two.de --out new --source-tokenizer levt/tokenizer.json": "without one for the target",
    "prepare --train two.en two.de --out new --tokenizer levt/tokenizer.json --vocabulary 8000": "--vocabulary is for ",
    "prepare --train two.en two.de --out new --tokenizer levt/tokenizer.json --sample 9": "--sample is for learning a ",
    "prepare --train two.en two.de --out new --drop-overlap": "--drop-overlap compares training with dev and test data",
    "prepare --train empty.txt empty.txt --out new": "the training data has no usable line",
    "synthesize halves --train two.en two.de --out new --share 2": "share must be more than 0 and less than 1",
    "synthesize mix --synthetic kept --real kept --out new --times 0": "times must be at least 1, got 0",
    "synthesize drafts --train two.en two.de --black-box cat --out kept": "a black box must be named as one of ",
    "synthesize drafts --train two.en two.de --black-box command:cat --out new --processes 0": "processes must be at ",
    "blackbox translate command:false": "the command 'false' ended with status 1 and said nothing",
    "blackbox translate command:cat --batch-size 0": "batch_size and processes must be at least 1, got 0 and 1",
    "blackbox translate command:cat --timeout 0": "timeout must be above 0 and at most 86400, got 0",
    "blackbox translate command:cat --timeout nan": "timeout must be above 0 and at most 86400, got nan",
    "blackbox translate phrase:kept --timeout 9": "a black box of kind phrase has no timeout, got 9",
    "blackbox translate levt:levt --timeout 600": "a black box of kind levt has no timeout, got 600",
    "blackbox train-phrase --train two.en two.de --out new --tune-lines 9": "--tune-lines is for a dev set",
    "synthesize drafts --train two.en two.de --black-box levt:levt --out kept --timeout 9": "has no timeout, got 9",
    "parity folder --tolerance nan": "tolerance must be between 0 and inf, got nan",
    "parity folder --tolerance -1": "tolerance must be between 0 and inf, got -1.0",
    "blackbox translate http://:80": "the address of a service must be http://HOST",
    "blackbox translate levt:levt --beam 3": "a model of kind levt has no beam",
    "blackbox train-phrase --train two.en two.de --out new --order 1": "order must be at least 2, got 1",
    "blackbox train-phrase --train empty.txt empty.txt --out new": "there is no pair of lines of 1 to 60 words",
    "distill levt toy/corpus --out new --beam 0": "beam must be at least 1, got 0",
    "distill levt toy/corpus --out new --processes 0": "processes must be at least 1, got 0",
    "distill ar toy/corpus --out new --max-iterations 3": "--max-iterations does nothing for a teacher of kind auto",
    "distill ar toy/corpus --out new --from-scratch": "--from-scratch does nothing for a teacher of kind auto",
    "distill levt toy/corpus --out new --beam 2": "--beam does nothing for a teacher of kind levt",
    "train toy/toy.py:ar --out new --roll-in.alpha 0.7": "--roll-in.alpha does nothing for a model of kind autoregress",
    "train toy/toy.py:ar --out new --roll-in.drafts.noisy 0.7": "--roll-in.drafts.noisy does nothing for a model of ",
    "train toy/toy.py:ar --out new --objective.delete-weight 2": "--objective.delete-weight does nothing for a model ",
    "train toy/toy.py:ar --out new --options.max-iterations 2": "--options.max-iterations does nothing for a model of",
    "train toy/toy.py:levt --out new --beam 2": "--beam does nothing for a model of kind levt",
    "train toy/toy.py:levt --model.source-vocabulary 9 --model.target-vocabulary 9": "vocabulary cannot be chosen",
    "train toy/toy.py:levt --out new --metric chrf --tokenize char": "tokenize 'char' is heeded by none of chrf",
    "train toy/toy.py:levt --corpus bare --out new --metric ter": "--metric is about the dev set, and bare has none",
    "train toy/toy.py:levt --corpus bare --out new --training.patience 3": "--training.patience is about the dev set",
    "train toy/toy.py:levt --corpus bare --out new --options.max-iterations 3": "max-iterations is about the dev set",
    "chain toy/toy.py:ar toy/toy.py:levt --corpus bare --out new --student.dev-limit 9": "dev-limit is about the dev",
    "train toy/toy.py:levt --corpus toy/corpus --out new --times 9": "--times weighs a corpus against others",
    "train toy/toy.py:levt --corpus toy/corpus --out new --roll-in.alpha 0.7": "is about drafts, and toy/corpus has ",
    "train toy/toy.py:levt --corpus toy/corpus --out new --roll-in.beta 0.7": "is about drafts, and toy/corpus has no",
    "train toy/toy.py:levt --corpus toy/corpus --out new --roll-in.noise 0.7": "is about corrupted targets, and none",
    "train toy/toy.py:levt --corpus toy/corpus --out new --roll-in.drafts.noise 0.7": "is about noisy drafts, and no",
    "train multi30k-maskt --out new --options.min-edit 0.5": "--options.min-edit does nothing for a model of kind",
    "train multi30k-insertion --out new --beam 2": "--beam does nothing for a model of kind insertion",
    "chain toy/toy.py:ar toy/toy.py:levt --out new --student.beam 2": "--student.beam does nothing for a model of kind",
    "chain toy/toy.py:ar toy/toy.py:levt --out new --teacher.roll-in.beta 1": "--teacher.roll-in.beta does nothing for",
    "chain toy/toy.py:ar toy/toy.py:levt --out new --distillation.max-iterations 2": "max-iterations does nothing for",
    "chain multi30k-ar bundled-levt --out new --student.repair x": "--student.repair cannot be chosen: the student ",
    "train toy/toy.py:levt --training.tokens 3": "tokens must be at least 16, got 3",
    "train toy/toy.py:levt --roll-in.alpha 2": "alpha must be between 0 and 1, got 2.0",
    "train toy/toy.py:levt --roll-in.drafts.noisy 2": "noisy must be between 0 and 1, got 2.0",
    "train toy/toy.py:levt --objective.delete-weight -1": "delete_weight must be at least 0, got -1.0",
    "train toy/toy.py:levt --model.width 0": "width must be ",
    "train toy/toy.py:levt --beam 0": "beam must be at least 1, got 0",
    "chain toy/toy.py:ar toy/toy.py:levt --corpus toy/corpus --out new --processes 0": "processes must be at least 1",
    "chain toy/toy.py:ar toy/toy.py:levt --corpus toy/corpus --out new --student.init missing": "model folder missing",
    "chain toy/toy.py:ar toy/toy.py:levt --corpus toy/corpus --out new --student.more missing": "corpus folder missing",
    "chain toy/toy.py:ar toy/toy.py:levt --corpus toy/corpus --out new --student.device meta": "device must be cpu, ",
    "train toy/toy.py:levt --corpus toy/corpus --out run --training.tokens 16": "\nhint: raise --training.tokens, or ",
    "reproduce table-1 --scale toy --work kept --seeds 0": "seeds must be between 1 and 20, got 0",
    "reproduce table-1 --scale toy --work kept --parallel 0": "parallel must be at least 1, got 0",
    "reproduce table-1 --scale toy --work kept --parallel 0 --dry-run": "parallel must be at least 1, got 0",
    "reproduce table-1 --scale toy --work kept --budget-minutes 0": "budget-minutes must be above 0, got 0",
    "reproduce table-1 --scale toy --work kept --budget-minutes nan": "budget-minutes must be above 0, got nan",
    "reproduce --scale toy --work kept --tasks en-de table-1": "what to reproduce is not named\nhint: names come first",
    "reproduce --scale toy --work kept --dry-run": "what to reproduce is not named",
    "reproduce table-1 --scale toy --work kept --pack-mib 3": "--pack-mib is for an archive",
    "reproduce table-1 --scale toy --work kept --pack new --pack-mib nan": "pack-mib must be between 0 and inf, ",
    "reproduce table-1 --scale toy --work kept --pack new --dry-run": "--pack writes an archive, which --dry-run does ",
    "convert fairseq missing --dict two.en --out new": "there is no checkpoint missing",
    "prepare --train two.en two.de --out new --vocabulary 99999999999": "a vocabulary must be at most 1,048,576 pieces",
    "blackbox train-phrase --train two.en two.de --out new --longest 99999999999": "longest must be at most 60, got ",
    "blackbox train-phrase --train two.en two.de --out new --order 99999": "order must be at most 20, got 99999",
    "blackbox train-phrase --train two.en two.de --out new --options 99999999999999999999": "options must be at most ",
    "blackbox train-phrase --train two.en two.de --out new --limit 99999999999999999999": "limit must be at most ",
    "blackbox train-phrase --train two.en two.de --out new --limit 0": "limit must be at least 1, got 0",
    "synthesize drafts --train two.en two.de --black-box command:cat --out new --chunk 9999999999999999999": "chunk",
    "synthesize mix --synthetic kept --real kept --out new --times 99999999999": "times must be at most 65535, got ",
    "evaluate --hypothesis two.de --reference two.de --confidence --samples 99999999999": "samples must be at most ",
    "translate --model levt --input two.en --output new --beam 3": "unknown setting 'beam' for a model of kind levt",
    "translate --model ar --input two.en --output new --drop x": "a model of kind autoregressive cannot be steered",
    "translate --model levt --input identity --output new": "no shard may be called identity: levt has a file of that",
    "translate --model levt --input no-text --output new": "no-text, line 1: it is not UTF-8",
    "translate --model levt --input two.en --output new --device meta": "device must be cpu, cuda or cuda:N",
    "translate --model ar --max-iterations 3": "autoregressive\nhint: a model of kind autoregressive knows beam, ",
    "translate --model levt --length-penalty 2": "of kind levt\nhint: a model of kind levt knows max_iterations, ",
}
"""Files are as they should be, and something else is not."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "no-text").write_bytes(b"\x00\xff\xfe\n\xff\n")
    for name in ("folder", "toy"):
        (folder / name).mkdir()
    toy(folder / "toy")
    shutil.copytree(folder / "toy" / "corpus", folder / "bare", ignore=shutil.ignore_patterns("dev"))
    save_tiny(folder / "levt")
    save_tiny(folder / "ar", "autoregressive")
    return folder


ALL = {
    **{call.replace("BAD", bad): said for call, kind in CALLS.items() for bad, said in kind.items()},
    **OTHERS,
    **VALUES,
}


@pytest.mark.parametrize(("call", "said"), ALL.items(), ids=list(ALL))
def test_what_is_bad_is_named_and_a_hint_given(
    call: str, said: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXTS["two.en"].encode())))
    with pytest.raises(SystemExit) as stop:
        main(call.split())
    found = capsys.readouterr().err
    assert stop.value.code == 2, found
    assert said in found
    assert "\nhint: " in found
    assert "[Errno" not in found
    assert not (place / "new").exists()
