"""The editor's files hang together, need nothing from elsewhere, and never read a text as HTML."""

import re
from importlib.resources import files

import pytest

EDITOR = files("levt.serving") / "editor"
FILES = {file.name: file.read_text(encoding="utf-8") for file in EDITOR.iterdir() if file.is_file()}
SCRIPTS = sorted(name for name in FILES if name.endswith(".js"))
PAGE = FILES["index.html"]


def test_the_page_names_files_that_are_there() -> None:
    named = re.findall(r'(?:src|href)="([^"#]+)"', PAGE)
    assert named
    assert {name.rsplit("/", 1)[-1] for name in named} <= FILES.keys()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_module_imports_what_is_there(name: str) -> None:
    for names, other in re.findall(r'import \{([^}]*)\} from "\./([^"]+)"', FILES[name]):
        for wanted in re.findall(r"\w+", names):
            assert re.search(rf"export (async )?(const|function\*?|class) {wanted}\b", FILES[other]), wanted


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_module_asks_for_elements_that_are_there(name: str) -> None:
    asked = re.findall(r'(?:byId|click)\("([\w-]+)"', FILES[name])
    assert set(asked) <= set(re.findall(r'\bid="([\w-]+)"', PAGE))


@pytest.mark.parametrize("name", FILES)
def test_nothing_comes_from_elsewhere_and_no_text_is_read_as_html(name: str) -> None:
    text = FILES[name].replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|//\w+\.\w+/", text)
    assert not re.search(
        r"innerHTML|outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function", text
    )
    assert not re.search(r"<[^>]+\s(on\w+|style)=", text) or name.endswith(".js")


def test_every_module_is_used() -> None:
    used = {other for text in FILES.values() for other in re.findall(r'"(?:\./)?([\w]+\.js)"', text)}
    assert used == set(SCRIPTS)
