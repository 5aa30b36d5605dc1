"""Every command and Python snippet of the README and of docs, run as a reader would, page by page.

A page begins in a folder of its own with the toy model (see ``docs/guides/index.md``); its blocks run in order, the
Python ones with the names of those before them. Port 8000 is a free one here.
"""

import contextlib
import os
import re
import warnings
from io import StringIO
from pathlib import Path

import pytest
from page_shell import ROOT, Shell
from snippets import Block, blocks, levt_calls

DOCS = ROOT / "docs"
REWRITE = "after a change of the bundled model: WRITE_PRINTED=1 pytest tests/docs/test_snippets.py, then read the pages"
COMMAND = re.compile(r"^\s*(\$ )?(levt|python|pip) ", re.M)


def pages() -> list[Path]:
    parts = [
        page for part in ("", "guides", "concepts", "results") for page in sorted((DOCS / part).glob("*.md"))
    ]
    return [ROOT / "README.md", *parts]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def to_run(page: Path) -> list[Block]:
    return [
        block
        for block in blocks(page)
        if block.not_run is None and (block.is_shell or block.language == "python" or block.printed)
    ]


@pytest.mark.parametrize("page", list(filter(to_run, pages())), ids=name)
def test_a_page_can_be_followed(
    page: Path, request: pytest.FixtureRequest, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = "<!-- begins with: nothing -->" in page.read_text(encoding="utf-8")
    shell: Shell = request.getfixturevalue("shell" if empty else "with_toy")
    monkeypatch.chdir(shell.folder)
    names: dict[str, object] = {"__name__": "__snippet__"}
    printed = ""
    for block in to_run(page):
        where = f"{name(page)}:{block.line}"
        if block.is_shell:
            try:
                printed = shell.run(block.tested_script().replace("8000", str(free_port)))
            except AssertionError as error:
                raise AssertionError(f"{where}: {error}") from None
        elif block.printed:
            if block.body not in printed and os.environ.get("WRITE_PRINTED"):
                text = page.read_text(encoding="utf-8")
                page.write_text(text.replace(block.body, printed), encoding="utf-8")
            else:
                assert block.body in printed, f"{where}: printed was\n{printed}\n{REWRITE}"
        else:
            code = compile("\n" * block.line + block.body, str(page), "exec")
            with contextlib.redirect_stdout(StringIO()), warnings.catch_warnings():
                exec(code, names)


@pytest.mark.parametrize("page", list(filter(to_run, pages())), ids=name)
def test_who_needs_the_toy_is_told_before_where_it_is_made(page: Path) -> None:
    if "<!-- begins with: nothing -->" in (text := page.read_text(encoding="utf-8")):
        return
    used = [
        block.line
        for block in to_run(page)
        if re.search(r"(?<!results/)\btoy/|toy-student|corpora/toy|toy_pair", block.body)
    ]
    told = text.find("index.md#a-model-to-play-with")
    if used:
        assert 0 <= told < len("".join(text.splitlines(keepends=True)[: used[0]])), f"{name(page)}:{used[0]}"


def verbs_and_flags(block: Block) -> list[list[str]]:
    return [call for call in levt_calls(block.script) if call and not call[0].startswith("-")]


@pytest.mark.parametrize("page", pages(), ids=name)
def test_what_is_not_run_names_verbs_and_flags_that_exist(page: Path) -> None:
    from generate.cli_reference import help_of

    for block in blocks(page):
        if block.not_run is None or not block.is_shell:
            continue
        assert len(block.not_run) > 10, f"{name(page)}:{block.line}: say why it is not run"
        for verb, *rest in verbs_and_flags(block):
            # A verb with kinds, or a recipe, has its own flags.
            kind = [] if not rest or rest[0].startswith("-") else rest[:1]
            chain = rest[:2] if verb == "chain" else kind
            said = help_of(verb, *chain) if chain and verb in ("train", "chain", "convert", "blackbox", "synthesize") \
                else help_of(verb)  # fmt: skip
            for flag in (word.partition("=")[0] for word in rest if word.startswith("--")):
                assert re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", said), (
                    f"{name(page)}:{block.line}: {flag}"
                )


@pytest.mark.parametrize("page", pages(), ids=name)
def test_commands_stand_in_blocks_that_say_so(page: Path) -> None:
    bare = [
        f"{name(page)}:{block.line}"
        for block in blocks(page)
        if block.language not in ("bash", "console", "python") and COMMAND.search(block.body)
    ]
    assert bare == []
