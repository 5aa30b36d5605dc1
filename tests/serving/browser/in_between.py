"""What tests of the time between a gesture and the answer of the server have in common."""

import asyncio
from threading import Event
from typing import Any


def slowly(editor: Any) -> None:
    """Let the server take its time."""
    editor.evaluate(
        """() => { const ask = window.fetch;
             window.fetch = async (...all) => (await new Promise((go) => setTimeout(go, 300)), ask(...all)); }"""
    )


def unanswered(server: Any, path: str = "/v1/tokenize") -> Event:
    """Let the server leave what comes to a path (to look a text up, say) without an answer until this is set."""
    answered, before = Event(), server.mood

    async def wait(asked: str) -> Any:
        while asked == path and not answered.is_set():
            await asyncio.sleep(0.01)
        return await before(asked) if before else None

    server.mood = wait
    return answered


def two_sentences(editor: Any) -> None:
    editor.locator("#source").fill("A dog runs. A cat sleeps.")
    editor.locator("#split").click()
    editor.locator("#status", has_text="2 sentences translated.").wait_for()


def type_over(editor: Any, word: str, text: str) -> None:
    editor.word(word).focus()
    editor.keyboard.type(text)


def fails_once(server: Any) -> None:
    from browser.scripted_server import problem

    server.trouble.append(problem(503, "queue_full", "64 texts are waiting", "try again"))
