"""Errors are shown kindly and lose nothing; texts are never read as HTML; a token is asked for."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser

NASTY = "<img src=x onerror=document.body.remove()>"


def test_a_busy_server(editor: Any, server: Any) -> None:
    from browser.scripted_server import problem

    server.trouble.append(
        problem(503, "queue_full", "64 texts are waiting", "try again", **{"Retry-After": "2"})
    )
    editor.locator("#source").fill("A dog runs.")
    editor.locator("#translate").click()
    notice = editor.locator("#notice")
    notice.wait_for()
    assert "The server is busy. 64 texts are waiting" in notice.text_content()
    editor.locator("#notice-retry").click()
    editor.locator(".word", has_text="Hund").wait_for()
    assert notice.is_hidden()


def test_an_error_within_alternatives_and_typing(editor: Any, server: Any) -> None:
    from browser.scripted_server import problem

    editor.translate("A dog runs.")
    server.trouble.append(problem(422, "unusable_text", "this cannot be used", "use something else"))
    editor.word("Hund").click()
    note = editor.locator("#popover [role=status]", has_text="This cannot be used. Use something else.")
    note.wait_for()
    editor.press("Escape")
    server.trouble.append(problem(500, "internal", "our fault", "the log has the details"))
    editor.keyboard.type("Dackel")
    editor.press("Enter")
    editor.locator("#notice", has_text="our fault").wait_for()
    assert editor.text == "Ein Hund läuft."
    editor.locator("#notice-retry").click()
    editor.locator(".word", has_text="Dackel").wait_for()


def test_a_server_that_went_away(editor: Any) -> None:
    editor.translate("A dog runs.")
    editor.route("**/v1/refine", lambda route: route.abort())
    editor.locator("#continue").click()
    editor.locator("#notice", has_text="The server does not answer.").wait_for()
    assert editor.text == "Ein Hund läuft."


def test_what_was_translated_before_the_server_went_away_stays(editor: Any, server: Any) -> None:
    left = [None]

    def first_only(route: Any) -> None:
        return route.fallback() if left and not left.pop() else route.abort()

    editor.route("**/v1/translate", first_only)
    editor.locator("#source").fill("A dog runs. " * 40)
    editor.locator("#split").click()
    editor.locator("#notice", has_text="The server does not answer.").wait_for()
    editor.locator("#status", has_text="16 of 40 sentences translated; the button").wait_for()
    labels = [one.get_attribute("aria-label") for one in editor.locator("#sentence-list button").all()]
    assert ["no draft yet" in label for label in labels] == [False] * 16 + [True] * 24
    assert [len(body["texts"]) for path, body in server.asked if path.endswith("translate")] == [16]
    # The others can be translated later, and nothing else is touched.
    editor.press("Alt+PageDown")
    editor.word("Hund").focus()
    editor.press("Space")
    editor.unroute("**/v1/translate")
    editor.get_by_role("button", name="Translate 24 sentences without a draft").click()
    editor.locator("#status", has_text="24 sentences translated.").wait_for()
    assert editor.locator("#sentence-list button[aria-label*='no draft yet']").count() == 0
    assert editor.locator("#split").is_hidden()
    assert editor.locator(".word.locked").all_text_contents() == ["Hund"]
    editor.locator("#undo").click()
    assert editor.locator("#sentence-list button[aria-label*='no draft yet']").count() == 24


def test_a_failure_of_the_first_is_said(editor: Any) -> None:
    editor.route("**/v1/translate", lambda route: route.abort())
    editor.locator("#source").fill("A dog runs. " * 3)
    editor.locator("#split").click()
    editor.locator("#notice", has_text="The server does not answer.").wait_for()
    editor.locator("#status", has_text="That did not work.").wait_for()
    assert editor.locator("#sentences").is_hidden()
    editor.unroute("**/v1/translate")
    editor.locator("#notice-retry").click()
    editor.locator("#status", has_text="3 sentences translated.").wait_for()


def test_no_source(editor: Any, server: Any) -> None:
    editor.locator("#translate").click()
    assert "no source yet" in editor.said
    assert server.asked == []


def test_texts_are_not_html(editor: Any, server: Any) -> None:
    editor.translate(f"A {NASTY} dog.")
    assert "onerror" in editor.text
    editor.locator("#term").fill(NASTY)
    editor.press("Enter")
    editor.word("onerror").click()
    editor.press("Escape", "Alt+ArrowLeft", "Alt+ArrowLeft")
    assert editor.locator("img").count() == 0
    assert editor.locator("#frame ins").count() > 3


def test_no_script_may_come_from_anywhere_else(editor: Any) -> None:
    editor.evaluate(
        "() => { const script = document.createElement('script'); script.textContent = 'window.broken = 1';"
        "document.head.append(script); }"
    )
    assert editor.evaluate("() => window.broken") is None
    assert ["Content Security Policy" in text for text in editor.wrong] == [True]
    editor.wrong.clear()
    policy = editor.locator("meta[http-equiv]").get_attribute("content")
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


def test_a_token_is_asked_for(profile: Any, served: tuple[str, Any], server: Any) -> None:
    from browser.page_object import open_editor

    server.token = "open sesame"
    for editor in open_editor(profile, served[0]):
        editor.locator("#token").fill("open sesame")
        editor.press("Enter")
        editor.locator("#model", has_text="scripted").wait_for()
        editor.translate("A dog runs.")
        assert editor.text == "Ein Hund läuft."


def test_a_token_that_no_server_has(profile: Any, served: tuple[str, Any], server: Any) -> None:
    from browser.page_object import open_editor

    server.token = "sesame"
    for editor in open_editor(profile, served[0]):
        editor.locator("#token").fill("öffne dich")
        editor.press("Enter")
        assert editor.evaluate("document.querySelector('#token').validity.patternMismatch")
        assert editor.locator("#notice").is_hidden()
        editor.locator("#token").fill(" sesame ")
        editor.press("Enter")
        editor.locator("#model", has_text="scripted").wait_for()


def test_a_token_that_is_refused(profile: Any, served: tuple[str, Any], server: Any) -> None:
    """It is said, each time, and also of one that was right before; nobody is told so who gave none yet."""
    from browser.page_object import open_editor

    server.token = "sesame"
    for editor in open_editor(profile, served[0]):
        refused = editor.locator("#token-refused")
        assert refused.is_hidden()
        editor.locator("#token").fill("poppy")
        editor.press("Enter")
        refused.wait_for()
        assert editor.locator("#token").input_value() == ""
        editor.locator("#token").fill("sesame")
        editor.press("Enter")
        editor.locator("#model", has_text="scripted").wait_for()
        assert editor.locator("#token-dialog").is_hidden()
        server.token = "linseed"
        editor.locator("#source").fill("A dog runs.")
        editor.locator("#translate").click()
        refused.wait_for()
        editor.locator("#token").fill("linseed")
        editor.press("Enter")
        editor.word("Hund").wait_for()


def test_what_went_wrong_is_seen_beside_a_long_text(editor: Any, server: Any) -> None:
    from browser.scripted_server import problem

    editor.locator("#source").fill("A dog runs. " * 300)
    assert editor.evaluate("document.documentElement.scrollHeight > 2 * innerHeight")
    editor.evaluate("() => scrollTo(0, 0)")
    actions = editor.locator("#translate").bounding_box()
    assert 0 < actions["y"] < 800 - actions["height"]
    server.trouble.append(problem(503, "queue_full", "64 texts are waiting", "try again"))
    editor.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    editor.locator("#translate").click()
    editor.locator("#notice").wait_for()
    assert 0 <= editor.locator("#notice").bounding_box()["y"] < 100


def test_a_sentence_that_is_refused_keeps_no_other_back(editor: Any, server: Any) -> None:
    from browser.scripted_server import problem

    refusal = problem(413, "too_many_tokens", "a text has 600 tokens", "send it paragraph by paragraph")
    editor.route(
        "**/v1/translate",
        lambda route: (
            route.fulfill(status=413, body=refusal.body, content_type="application/json")
            if "Tausend" in (route.request.post_data or "")
            else route.fallback()
        ),
    )
    editor.locator("#source").fill(
        "A dog runs. Tausend cats and more of them than anybody can count. A cat sleeps."
    )
    editor.locator("#split").click()
    editor.locator("#status", has_text="2 of 3 sentences translated").wait_for()
    named = "Not translated: “Tausend cats and more of them than anybo…”."
    editor.locator("#notice", has_text=f"A text has 600 tokens. {named}").wait_for()
    assert editor.locator("#notice-hint").text_content() == "Send it paragraph by paragraph."
    assert editor.locator("#notice-retry").is_hidden()
    buttons = editor.locator("#sentence-list button")
    drafts = []
    for i in range(buttons.count()):
        buttons.nth(i).click()
        drafts.append(editor.text)
    assert drafts == ["Ein Hund läuft.", "", "Ein Katze schläft."]
    # It can be translated where it is shorter.
    buttons.nth(1).click()
    editor.locator("#source").fill("Two dogs run.")
    editor.locator("#split", has_text="Translate 1 sentence without a draft").click()
    editor.locator(".word", has_text="Hunde").wait_for()
    assert editor.locator("#notice").is_hidden()


def test_all_sentences_refused_leave_the_source_as_it_is(editor: Any, server: Any) -> None:
    from browser.scripted_server import problem

    server.trouble += [problem(413, "too_many_tokens", "a text has 600 tokens") for _ in range(3)]
    editor.locator("#source").fill("A dog runs. A cat sleeps.")
    editor.locator("#split").click()
    editor.locator("#notice", has_text="“A dog runs.”, “A cat sleeps.”").wait_for()
    assert editor.locator("#status", has_text="0 of 2 sentences translated").is_visible()
    assert editor.locator("#sentence-list button").count() == 0
    assert editor.locator("#source").input_value() == "A dog runs. A cat sleeps."


def impatient(editor: Any) -> None:
    """Forty times as fast as else a server is given up."""
    editor.add_init_script(
        "const { timeout } = AbortSignal; AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 40);"
    )
    editor.reload()


def test_a_server_that_never_answers_is_not_waited_for_for_ever(editor: Any) -> None:
    editor.translate("A dog runs.")
    impatient(editor)
    editor.locator("#model:not(:empty)").wait_for()
    editor.route("**/v1/tokenize", lambda route: None)
    editor.word("Hund").focus()
    editor.keyboard.type("Dackel")
    editor.press("Enter")
    editor.locator("#notice", has_text="The server does not answer. Not written yet: “Dackel”.").wait_for()
    editor.unroute("**/v1/tokenize")
    editor.locator("#notice-retry").click()
    editor.locator(".word", has_text="Dackel").wait_for()


def test_who_looks_for_a_token_has_all_the_time_there_is(editor: Any, server: Any) -> None:
    server.token = "open sesame"
    impatient(editor)
    editor.locator("#token-dialog[open]").wait_for()
    editor.wait_for_timeout(700)
    editor.locator("#token").fill("open sesame")
    editor.press("Enter")
    editor.locator("#model", has_text="scripted").wait_for()
    assert editor.locator("#notice").is_hidden()
