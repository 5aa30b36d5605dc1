"""Pictures that are made by scripts are what the scripts make."""

import json
import runpy
import xml.etree.ElementTree as ET

from page_shell import ROOT

from levt.edits.trace import Trace

IMAGES = ROOT / "docs" / "images"


def test_the_picture_of_three_edits_is_drawn_from_its_trace() -> None:
    script = runpy.run_path(str(IMAGES / "three_edits.py"))
    trace = Trace.from_json(json.loads((IMAGES / "three-edits.json").read_text(encoding="utf-8")))
    assert script["draw"](trace) == (IMAGES / "three-edits.svg").read_text(encoding="utf-8")
    assert any(trace.iterations[0].script.drop)
    assert trace.iterations[0].script.fill


def test_the_picture_of_three_edits_is_as_wide_as_its_text() -> None:
    """Else its letters are small where the screen is."""
    drawing = ET.parse(IMAGES / "three-edits.svg").getroot()
    texts = [part for part in drawing.iter() if part.get("class", "").startswith("text")]
    ends = [float(part.get("x", "")) + float(part.get("textLength", "")) for part in texts]
    assert float(drawing.get("width", "inf")) - max(ends) < 40


def test_drawings_are_well_formed_readable_on_dark_and_ask_for_nothing() -> None:
    for picture in IMAGES.glob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        ET.fromstring(text)
        assert "prefers-color-scheme: dark" in text, picture.name
        assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), picture.name
        assert 'aria-label="' in text or "<title" in text, picture.name
