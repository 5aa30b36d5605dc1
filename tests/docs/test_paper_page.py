"""The page that maps the paper to the code: all that it names exists, its numbers are those of the code."""

import contextlib
import importlib
import io
import re
import shlex
from functools import cache

import pytest
from page_shell import ROOT

from levt.cli import main, verbs
from levt.recipes import recipe, summaries
from levt.recipes.reproduce import names
from levt.recipes.reproduce.iterations import PAPER as ENDED
from levt.recipes.reproduce.iterations import PAPER_MEAN
from levt.recipes.reproduce.parts.post_editing_task import PUBLISHED
from levt.recipes.reproduce.roll_in import PAPER as ROLL_IN
from levt.recipes.reproduce.sharing import PAPER as SHARING
from levt.recipes.reproduce.table_1 import PAPER as TABLE_1

PAGE = (ROOT / "docs" / "concepts" / "paper.md").read_text(encoding="utf-8")
QUOTED = sorted({" ".join(one.split()) for one in re.findall(r"`([^`]+)`", PAGE)})
FILES = ("tests/", "examples/", "docs/", "src/", "benchmarks/")


def table(first: str) -> list[dict[str, str]]:
    """The rows of the table whose first column is called so."""
    lines = PAGE.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in [lines[begin], *lines[begin + 2 :]]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


@pytest.mark.parametrize("name", [one for one in QUOTED if re.fullmatch(r"levt(\.\w+)+", one)])
def test_names_exist(name: str) -> None:
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            found = getattr(found, part)
        return
    pytest.fail(f"{name} is no module")


@pytest.mark.parametrize("name", [one for one in QUOTED if one.startswith(FILES)])
def test_files_and_tests_exist(name: str) -> None:
    path, _, function = name.partition("::")
    assert (ROOT / path).is_file()
    assert f"def {function}" in (ROOT / path).read_text(encoding="utf-8")


@cache
def helped(*command: str) -> str:
    """What a command says of itself."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return said.getvalue()


def flags(text: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z0-9.-]*", text))


COMMANDS = [one for one in QUOTED if one.startswith("levt ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_commands(command: str) -> None:
    verb, *rest = shlex.split(command)[1:]
    assert verb in verbs()
    if verb == "reproduce":
        assert not rest or rest[0] in names()
    assert flags(command) <= flags(helped(verb))


def test_flags_and_recipes_exist() -> None:
    known = flags(helped("train", "wmt14-en-de-levt")) | flags(
        helped("chain", "wmt14-en-de-ar", "wmt14-en-de-levt")
    )
    known |= {flag for verb in ("translate", "reproduce") for flag in flags(helped(verb))}
    named = {flag for one in QUOTED if one.startswith("--") for flag in flags(one)}
    assert named - known == set()
    used = re.search(r"`torchrun [^`]* train (\S+) (--[^`]*)`", PAGE)
    assert used is not None
    assert used[1] in summaries()
    assert flags(used[2]) <= known


def test_every_table_and_figure_has_a_command() -> None:
    mapped = " ".join(re.findall(r"^\| ((?:Table|Figure)s? [^:|]*)", PAGE, re.M))
    for number in ("1", "2a", "2b", "3", "6"):
        assert f"Table {number}" in mapped
    for number in ("4a", "4b", "5a", "5b"):
        assert f"Figure {number}" in mapped
    for number in range(1, 9):
        assert f"Eq. {number}" in PAGE
    generated = {name for name in names() if f"`levt reproduce {name}" in PAGE}
    ours = {"post-editing-effort", "post-editing-order", "post-editing-quality"}
    assert generated == set(names()) - ours


def test_table_1() -> None:
    for row in table("Table 1"):
        task = row.pop("Table 1")
        assert {system: tuple(cell.split(", ")) for system, cell in row.items()} == TABLE_1[task]
    assert len(table("Table 1")) == len(TABLE_1)


def test_table_2() -> None:
    found = {
        (name, row["Table 2a, BLEU"]): float(cell)
        for row in table("Table 2a, BLEU")
        for name, cell in row.items()
        if re.fullmatch(r"\d+\.\d+", cell)
    }
    assert found == SHARING
    assert {
        row["Table 2b"]: (float(row["BLEU"]), float(row["NLL(del)"])) for row in table("Table 2b")
    } == ROLL_IN


def test_table_3() -> None:
    found = {}
    for row in table("Table 3"):
        name = row.pop("Table 3")
        found[name] = tuple(float(number) for cell in row.values() for number in re.findall(r"\d+\.\d", cell))
        assert ("*" in row["scratch"], "*" in row["zero-shot"]) == (name[:5] in ("en-de", "en-ja"),) * 2
    assert found == PUBLISHED


def test_table_6() -> None:
    [row] = table("Table 6")
    assert tuple(float(row[str(i)]) for i in range(1, 11)) == ENDED
    assert float(row["mean"]) == PAPER_MEAN


def test_settings_are_those_of_the_recipes() -> None:
    found = recipe("wmt14-en-de-levt")
    for row in table("in the paper (4.1, C.1)"):
        values = []
        for name in re.findall(r"`--([^`]+)`", row["setting"]):
            value: object = found
            for part in name.replace("-", "_").split("."):
                value = getattr(value, part)
            values.append(value)
        if row["in the paper (4.1, C.1)"].startswith("tokens"):
            values = [values[0] * values[1]]  # type: ignore[operator]
        assert {str(value) for value in values} == {row["value"]}, row


def test_vocabularies_are_those_of_the_recipes_help() -> None:
    from levt.recipes.reproduce.parts.task import PAPER as TASKS

    sizes = {row["folder of `--data`"].split("`")[1]: row["vocabulary"] for row in table("corpus")}
    for task in TASKS:
        folder = task.train[0][0].partition("/")[0]
        assert f"{task.vocabulary:,}" in sizes[folder].split(" / ")


def test_a_chain_of_the_paper_begins_with_random_weights() -> None:
    """Ours begins as its teacher unless it is told not to."""
    guide = (ROOT / "docs" / "guides" / "reproduce.md").read_text(encoding="utf-8")
    chains = re.findall(r"levt chain (?:wmt|wat|gigaword)[^`]*", guide)
    assert chains
    assert all("--no-warm" in one for one in chains)
    assert "--no-warm" in flags(helped("chain", "wmt14-en-de-ar", "wmt14-en-de-levt"))


OF_RECIPES = {
    "wmt16-ro-en": [one for numbers in TABLE_1["ro-en"].values() for one in numbers],
    "wmt14-en-de": [
        *(one for numbers in TABLE_1["en-de"].values() for one in numbers),
        *map(str, SHARING.values()),
    ],
    "wat17-en-ja": [one for numbers in TABLE_1["en-ja"].values() for one in numbers],
    "gigaword": [one for numbers in TABLE_1["summarisation"].values() for one in numbers[0].split(" / ")],
    "wmt17-ape": [str(one) for one in PUBLISHED["ape-en-de"]],
}
"""By the beginning of its name, the numbers of the paper that a recipe may promise."""


@pytest.mark.parametrize("task", OF_RECIPES)
def test_recipes_promise_the_papers_numbers(task: str) -> None:
    said = {
        number
        for name, words in summaries().items()
        if name.startswith(task)
        for number in re.findall(r"\d+\.\d+", words)
    }
    assert said
    assert said <= set(OF_RECIPES[task])


def test_other_pages_have_the_papers_numbers() -> None:
    """What pages say in words of their own, by where the code has it."""
    distilled = {name: f"{score:.2f}" for (name, expert), score in SHARING.items() if expert == "distilled"}
    real = [f"{bleu} / {ter}" for bleu, ter in zip(*[iter(PUBLISHED["ape-en-de"])] * 2, strict=True)]
    ours, dae = ROLL_IN["ours"], ROLL_IN["DAE"]
    en_de, ro_en = TABLE_1["en-de"], TABLE_1["ro-en"]
    rouge_2 = [TABLE_1["summarisation"][one][0].split(" / ")[1] for one in ("LevT distilled", "AR beam 4")]
    wanted = {
        "docs/concepts/sharing.md": [
            rf"`{re.escape(name)}` \| [^|]* \| \**{distilled[name]}" for name in ("all", "plh+tok", "tok+del", "none")
        ],
        "docs/concepts/dual-policy.md": [
            rf"NLL {dae[1]} against {ours[1]}", rf"{dae[0]} BLEU against {ours[0]}"
        ],
        "docs/concepts/confirming.md": [rf"{ENDED[0]} % of the sentences", rf"mean\s+of {PAPER_MEAN}"],
        "docs/guides/distil.md": [
            rf"{en_de['LevT oracle'][0]} without, {en_de['LevT distilled'][0]} with"
        ],
        "docs/post-editing.md": [
            rf"TER {PUBLISHED['ape-en-de'][1]} .*?makes it {PUBLISHED['ape-en-de'][7]}, "
            rf"scratch {PUBLISHED['ape-en-de'][5]}, and fine-tuned {PUBLISHED['ape-en-de'][9]}"
        ],
        "README.md": [
            rf"WMT14 {distilled['all']} \(deletion apart {distilled['plh+tok']}\) / {en_de['AR beam 4'][0]}",
            rf"WMT16 {ro_en['LevT distilled'][0]} / {ro_en['AR beam 4'][0]}",
            rf"Gigaword {float(rouge_2[0]):.1f} / {float(rouge_2[1]):.1f}",
            rf"{ours[0]}, DAE {dae[0]}",
            rf"from {real[0]}: {real[4]}, AR {real[1]}",
            rf"LevT, one sentence.*paper \(V100\): {en_de['LevT distilled'][1]} ms",
            rf"greedy / beam 4 .*paper \(V100\): {en_de['AR greedy'][1]} / {en_de['AR beam 4'][1]} ms",
        ],
    }  # fmt: skip
    for page, patterns in wanted.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for pattern in patterns:
            assert re.search(pattern, text, re.S), pattern
