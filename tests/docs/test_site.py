"""The documentation site: it builds without a warning and without network, and no link in it is dead."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from page_shell import ROOT

FENCED = re.compile(r"^(`{3,}).*?^\1`*\s*$", re.M | re.S)
NO_NETWORK = """
import socket, sys
def refuse(*_args, **_more):
    raise OSError("the site must be built without network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli()
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK, "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr == ""
    return folder


class Reader(HTMLParser):
    """What a page links to, what it loads, and what can be linked to in it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links, self.loads, self.anchors = set[str](), set[str](), set[str]()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        elif tag == "link" and "href" in values and values.get("rel") not in ("canonical", "prev", "next"):
            self.loads.add(values["href"])
        elif "src" in values:
            self.loads.add(values["src"])


def test_no_link_is_dead(site: Path) -> None:
    pages = {page: Reader(page) for page in site.rglob("*.html")}
    assert len(pages) > 30
    dead = []
    for page, read in pages.items():
        if page.name == "404.html":  # its addresses are absolute
            continue
        for link in read.links | read.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchors = pages[target].anchors if target in pages else None
            if not target.is_file() or (
                parts.fragment and anchors and unquote(parts.fragment) not in anchors
            ):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loads = {load for page in site.rglob("*.html") for load in Reader(page).loads}
    foreign = {load for load in loads if urlsplit(load).netloc}
    assert foreign == set()
    styles = "".join(style.read_text(encoding="utf-8") for style in site.rglob("*.css"))
    assert "@import" not in styles
    assert "url(http" not in styles.replace('"', "").replace("'", "")


def test_the_reference_has_every_verb_every_public_name_and_every_path(site: Path) -> None:
    import levt
    from levt.cli import verbs

    command_line = (site / "reference" / "cli.html").read_text(encoding="utf-8")
    assert [verb for verb in verbs() if f'id="levt-{verb}"' not in command_line] == []
    api = Reader(site / "reference" / "api.html").anchors
    late = [name for name in levt.__all__ if name != "__version__"]
    assert [name for name in late if not any(anchor.endswith(f".{name}") for anchor in api)] == []
    http = (site / "reference" / "http.html").read_text(encoding="utf-8")
    assert [
        path for path in ("/v1/translate", "/v1/refine", "/v1/step", "/metrics") if path not in http
    ] == []


def test_help_in_the_reference_fits_its_page() -> None:
    from generate.cli_reference import page

    wide = [line for line in page().splitlines() if len(line) > 88 and not line.startswith("|")]
    assert [line for line in wide if not line.startswith("Made from")] == [], (
        "the page has room for 88 columns"
    )


CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}")
def test_search_works_from_disk(site: Path) -> None:
    """In a process of its own: Playwright would leave an event loop in this one."""
    pytest.importorskip("playwright")
    script = f"""
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path={str(CHROMIUM)!r}, args=["--no-sandbox"])
    page = browser.new_page()
    page.goto({(site / "guides" / "index.html").as_uri()!r})
    page.get_by_role("textbox", name="Search").click()
    page.keyboard.type("glossary")
    found = page.locator(".md-search-result__item").first
    found.wait_for()
    print(found.inner_text())
    browser.close()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Steer with terms and locks" in done.stdout


def test_every_guide_and_concept_is_in_the_navigation(site: Path) -> None:
    start = Reader(site / "index.html").links
    below = [page for part in ("guides", "concepts") for page in (ROOT / "docs" / part).glob("*.md")]
    assert [page for page in below if f"{page.parent.name}/{page.stem}.html" not in start] == []


def test_results_have_the_table_of_the_readme_and_titles_that_differ(site: Path) -> None:
    from generate.results import benchmarks, reproductions

    page = (site / "results" / "index.html").read_text(encoding="utf-8")
    for cell in ("Multi30k En→De, distilled", "oracle, 2048 pairs of 28 tokens"):
        assert cell in page, "the tables of the README"
    listed = {**reproductions(ROOT), **benchmarks(ROOT)}
    found = [*ROOT.glob("benchmarks/results/*.md"), *ROOT.glob("docs/results/*/*.md")]
    assert len(listed) == len(found), "a title that comes twice hides a page"
    assert [place for place in listed.values() if not (site / place).with_suffix(".html").is_file()] == []


def test_links_hold_in_the_repository_too() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    link = re.compile(r"\]\((?!\w+:)([^()\s#]+)(?:#[^()\s]*)?\)")
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in link.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
        if not (page.parent / target).exists()
    ]
    assert dead == []
