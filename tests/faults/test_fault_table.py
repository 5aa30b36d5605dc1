"""The page names exactly the faults that the tests try."""

import pytest

from fault_table import declared, read_page


def test_the_page_names_exactly_the_faults_that_are_tried(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--write-faults", False):
        pytest.skip("the page is being written")
    rows = read_page()
    assert rows == sorted(declared()), "pytest tests --write-faults"
    assert len({(row.what, row.when) for row in rows}) == len(rows)


def test_rows_stay_rows() -> None:
    for fault in declared():
        assert not any("|" in text or "\n" in text or text != text.strip() for text in fault), fault
