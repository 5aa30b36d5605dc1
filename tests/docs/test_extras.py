"""The extras: each brings packages, and those for users are the ones that errors and the questions name."""

import re
import tomllib

from page_shell import ROOT


def test_no_extra_is_empty_and_all_are_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert [name for name, packages in extras.items() if not packages] == []
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    missed = set(re.findall(r'MissingExtra\([^()]*"(\w+)"\)', source))
    (listed,) = re.findall(r"are extras \(([^)]*)\)", (ROOT / "docs" / "faq.md").read_text("utf-8"))
    assert set(re.findall(r"`(\w+)`", listed)) == missed == extras.keys() - {"docs", "dev"}
