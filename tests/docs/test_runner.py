"""The runner of snippets itself: what it reads in a page, and that a failure is one."""

from pathlib import Path

import pytest
from page_shell import Shell
from snippets import blocks, levt_calls

PAGE = """
# A page

```bash
levt --version \\
    | cat
```

Text with `code`.

<!-- not run: it would take hours -->
```console
$ levt train x --training.max-steps 9
step 1
$ echo done
```

<!-- in the test: --steps 3 (a minute) -->
```bash
levt demo
```

```python
x = 1
```

<!-- printed -->
```text
a line
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_blocks_and_their_marks(page: Path) -> None:
    first, second, third, fourth, fifth = blocks(page)
    assert first.commands() == ["levt --version      | cat"]
    assert (first.line, first.not_run, first.extra) == (4, None, None)
    assert second.not_run == "it would take hours"
    assert second.script == "levt train x --training.max-steps 9\necho done"
    assert third.tested_script() == "levt demo --steps 3"
    assert (fourth.language, fourth.body, fourth.printed) == ("python", "x = 1\n", False)
    assert fifth.printed


def test_a_mark_that_cannot_be_read_is_an_error(page: Path) -> None:
    page.write_text(PAGE.replace("--steps 3 (a minute)", "faster"), encoding="utf-8")
    with pytest.raises(AssertionError, match="must be"):
        list(blocks(page))


def test_calls_of_levt_are_found_between_pipes_and_redirections() -> None:
    script = (
        "cat a | levt translate --model 'my model' < b > c  # --no flag\nFOO=1 levt show \"x\" &\necho it"
    )
    assert list(levt_calls(script)) == [["translate", "--model", "my model"], ["show", "x"]]


def test_the_quick_levt_is_levt(shell: Shell) -> None:
    assert shell.run("levt --version").startswith("levt ")
    assert (
        shell.run("printf 'ein Hund\\n' | levt blackbox translate 'command:tr a-z A-Z' > out; cat out")
        == "EIN HUND\n"
    )
    assert "did you mean `levt translate`" in shell.run("levt translat || echo status $?")
    assert shell.run("levt translat 2> /dev/null || echo status $?") == "status 2\n"


def test_a_command_that_fails_is_a_failure(shell: Shell) -> None:
    with pytest.raises(AssertionError, match="status 2"):
        shell.run("levt inspect nowhere\necho never reached")
    with pytest.raises(AssertionError, match="status 1"):
        shell.run("false | cat")
