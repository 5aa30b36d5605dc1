"""What MkDocs does beside turning Markdown into pages: generated pages, and links that hold in both places.

Pages that lie elsewhere in the repository (the changelog, results of benchmarks, cards of models) get a place in the
site, and links to them are turned there. The reference is made from the code at every build, so it cannot be stale.
"""

import importlib
import re
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
HERE = str(Path(__file__).parent)

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s#]+)(#[^()\s]*)?\)")
MADE = {
    "benchmarks/results": "results/index.md",
    "docs/results/quick": "results/index.md",
    "src/levt/__init__.pyi": "reference/api.md",
    "src/levt/cli": "reference/cli.md",
    "src/levt/serving/schema": "reference/http.md",
}
"""The pages that are made, and from what: a link to that leads to the page."""
ALONE = ("index.md", "faq.md")
"""Pages without others beside them: a list of one would stand at their left."""
FENCE = re.compile(r"^(`{3,}).*?^\1`*\s*$", re.M | re.S)


def elsewhere() -> dict[str, str]:
    """Pages of the site that are files outside of docs: where they lie, by their place in the site."""
    found = {
        name: name
        for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "NOTICE", "CITATION.cff")
    }
    found |= {
        f"results/benchmarks/{path.name}": f"benchmarks/results/{path.name}"
        for path in sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    }
    found |= {
        f"results/{path.parent.name}.md": f"src/levt/models/{path.parent.name}/README.md"
        for path in sorted((ROOT / "src" / "levt" / "models").glob("*/README.md"))
    }
    found |= {
        f"examples/{path.name}": f"examples/{path.name}" for path in sorted((ROOT / "examples").glob("*.py"))
    }
    return {place: lies for place, lies in found.items() if (ROOT / lies).is_file()}


def generator(name: str) -> ModuleType:
    """A module of docs/generate; MkDocs forgets what a hook adds to the path when it is loaded."""
    if HERE not in sys.path:
        sys.path.insert(0, HERE)
    return importlib.import_module(f"generate.{name}")


def generated() -> dict[str, str]:
    """The pages that are made from the code."""
    return {
        "reference/api.md": generator("api_reference").page(),
        "reference/cli.md": generator("cli_reference").page(),
        "reference/http.md": generator("http_reference").page(),
        "results/index.md": generator("results").page(ROOT),
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add to the navigation the results, and under "More" what nobody listed."""
    docs = Path(config.docs_dir)
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")} | set(MADE.values())
    there = {place for place in there if "/findings/" not in place}  # they are parts of other pages
    there |= {place for place in elsewhere() if place.endswith(".md")}
    listed: set[str] = set()
    results = generator("results")

    def note(entry: Any) -> None:
        if isinstance(entry, str):
            listed.add(entry)
        else:
            for below in entry.values() if isinstance(entry, dict) else entry:
                note(below)

    note(config.nav)
    more = sorted(there - listed)
    rest = [page for page in more if page.startswith("results/") and page.count("/") == 1]
    groups = {"The paper again": results.reproductions(ROOT), "Benchmarks": results.benchmarks(ROOT)}
    for entry in config.nav or []:
        if "Results" in entry:
            pages = [
                {name: [{title: page} for title, page in group.items()]} for name, group in groups.items()
            ]
            entry["Results"] = ["results/index.md", *rest, *pages]
    grouped = {*rest, *(page for group in groups.values() for page in group.values())}
    if others := [page for page in more if page not in grouped]:
        config.nav.append({"More": others})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made, and what lies elsewhere."""
    for place, text in generated().items():
        files.append(File.generated(config, place, content=text))
    for place, lies in elsewhere().items():
        files.append(File.generated(config, place, content=(ROOT / lies).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to where a file is in the site; what has no place there is named instead."""
    here = page.file.src_uri
    if here in ALONE:
        page.meta["hide"] = ["navigation"]
    lies = elsewhere().get(here, f"docs/{here}")
    places = {lies: place for place, lies in elsewhere().items()} | MADE

    def turned(match: re.Match[str]) -> str:
        image, words, target, anchor = match[1], match[2], match[3], match[4] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        wanted = normpath(str(PurePosixPath(lies).parent / target))
        place = places.get(wanted) or (wanted.removeprefix("docs/") if wanted.startswith("docs/") else None)
        if place is None and (ROOT / wanted).exists():
            return f"`{wanted}`" if words.strip("`") == wanted else f"{words} (`{wanted}`)"
        if place is None:
            return match[0]
        return f"{image}[{words}]({relpath(place, PurePosixPath(here).parent.as_posix())}{anchor})"

    parts, start = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(turned, markdown[start : fence.start()]), fence[0]]
        start = fence.end()
    return "".join([*parts, LINK.sub(turned, markdown[start:])])
