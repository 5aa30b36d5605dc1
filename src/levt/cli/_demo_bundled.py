"""The demonstration with the model that comes with the package: a dozen translations, a few repairs."""

from pathlib import Path
from typing import TYPE_CHECKING

from levt.cli._demo_show import show_result, write_page
from levt.cli._layout import folded
from levt.cli._model import DEFAULT

if TYPE_CHECKING:
    from levt.engine.result import Result

INTRODUCTION = (
    "levt-en-de writes German by editing: it deletes words, opens places and fills\n"
    "them, until nothing changes. It came with the package; nothing is downloaded.\n"
    "First from nothing, then from drafts that somebody left behind."
)
NEXT = """
What to try next:
  levt serve                              an editor in the browser: edit, and let the model repair the rest
  echo "It is snowing." | levt translate  text in, text out; `levt refine --draft mt.txt < en.txt` repairs drafts
  levt show "It is snowing."              the edits of one text; with --html edits.html as a page
  levt demo --typos                       a model learns to repair typing errors in a minute, on this machine
  levt prepare --help                     a corpus of your texts; `levt chain laptop-ar laptop-levt` makes it a model"""
GUIDE = "  docs/own-pair.md                        from two text files to a model of your own; docs/guides has more"
DOCS = Path(__file__).parents[3] / "docs"
"""The pages, where this is a clone: an installed package has none."""
FIRST = "First, in the clone: `make setup && source .venv/bin/activate`, so that `levt` is found, with all extras."


def demo_bundled(*, json: bool, html: Path | None) -> None:
    """Translate, repair, say what to try next."""
    import sys
    import time
    from json import dumps
    from shutil import which

    from levt.cli._console import Output
    from levt.engine.model import load
    from levt.recipes.bundled_sentences import DEMONSTRATED, DRAFTS, SENTENCES

    print(INTRODUCTION, file=sys.stderr, flush=True)
    begun = time.perf_counter()
    model = load(DEFAULT)
    model.translate(SENTENCES[-1])  # the first text also makes what all later ones use
    print(f"loaded in {time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)
    console = Output(highlight=False)
    results: list[Result] = []
    took = 0.0
    shown = [*((text, "") for text in SENTENCES[:DEMONSTRATED]), *DRAFTS]
    for source, draft in shown:
        begun = time.perf_counter()
        result = model.refine(source, draft=draft) if draft else model.translate(source)
        milliseconds = 1000 * (time.perf_counter() - begun)
        took += milliseconds
        results.append(result)
        if json:
            found = {
                "source": source,
                "draft": draft,
                "milliseconds": round(milliseconds, 1),
                **result.to_json(),
            }
            print(dumps(found, ensure_ascii=False))
            continue
        if len(results) == DEMONSTRATED + 1:
            console.print("\nDrafts, repaired:", markup=False)
        show_result(console, result, milliseconds, source=source)
    if html is not None:
        sources = [source for source, _ in shown]
        write_page(html, results, "levt: translations and repairs", INTRODUCTION, sources)
    iterations = sum(result.iterations for result in results) / len(results)
    print(
        f"\n{len(results)} texts: {iterations:.1f} iterations and {took / len(results):.0f} ms each, on average",
        file=sys.stderr,
    )
    with folded():
        print(NEXT, file=sys.stderr)
        if (DOCS / "own-pair.md").is_file():
            print(GUIDE, file=sys.stderr)
        if which("levt") is None:  # `make demo` has made an environment, and nobody is in it
            print(FIRST, file=sys.stderr)
