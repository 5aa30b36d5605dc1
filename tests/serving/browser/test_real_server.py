"""The editor and a server whose inside is looked at."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_leaving_while_the_model_writes_frees_its_place(profile: Any) -> None:
    from live import serving

    from browser.page_object import open_editor

    with serving() as running:
        scheduler = running.service.worker.scheduler
        for editor in open_editor(profile, running.address):
            editor.locator("#source").fill(" ".join(["Two dogs run over the snow."] * 40))
            editor.locator("#iterations").evaluate("field => { field.max = 50; field.value = 50; }")
            editor.locator("#translate").click()
    assert scheduler.running == scheduler.waiting == 0
