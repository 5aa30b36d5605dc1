"""Many texts to a server: several requests at a time, answers in order. Knows no connection and no stream of lines."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from levt.errors import InputError, LevtError
from levt.serving.client import Client, stranger


@dataclass(frozen=True, kw_only=True)
class Remote:
    """A result that a server gave."""

    text: str
    """The text."""
    fields: dict[str, Any]
    """All that was told of it."""

    def to_json(self) -> dict[str, Any]:
        """As a result that was made here."""
        here = {
            name: value for name, value in self.fields.items() if name not in ("spans", "locked", "glued")
        }
        trace = here.pop("trace", None)
        return {**here, "alternatives": [], "trace": trace}


@dataclass(frozen=True, kw_only=True)
class Item:
    """One text, with its terms."""

    text: str
    terms: tuple[str, ...] = ()


class Batches:
    """Translates streams of texts by a server."""

    def __init__(self, client: Client, settings: dict[str, Any], *, size: int, at_once: int = 4) -> None:
        """Requests of at most ``size`` texts, ``at_once`` of them at a time; ``settings`` go with each."""
        self.client, self.settings, self.at_once = client, settings, at_once
        try:
            limits = client.models()["limits"]
            self.size = max(min(size, int(limits["texts"])), 1)
            # JSON needs more bytes than the text, and the rest of the request some.
            self.bytes = int(limits["bytes"]) // 3
        except (KeyError, TypeError, ValueError):
            raise stranger(client.url, "does not tell its limits") from None

    def translate(self, items: Iterable[Item]) -> Iterator[Remote]:
        """Results in order, as they come; where a text cannot be used, those before it come first."""
        waiting: deque[Future[tuple[list[Remote], LevtError | None]]] = deque()
        with ThreadPoolExecutor(self.at_once) as pool:
            try:
                parts, trouble = self.parts(items), None
                while True:
                    try:
                        waiting.append(pool.submit(self.answer, next(parts)))
                    except StopIteration:
                        break
                    except LevtError as error:  # a text that could not even be read
                        trouble = error
                        break
                    if len(waiting) >= 2 * self.at_once:
                        yield from _given(waiting.popleft())
                while waiting:
                    yield from _given(waiting.popleft())
                if trouble is not None:
                    raise trouble
            finally:
                for future in waiting:
                    future.cancel()

    def parts(self, items: Iterable[Item]) -> Iterator[list[Item]]:
        """As many texts at a time as a request holds."""
        part: list[Item] = []
        size = 0
        try:
            for item in items:
                needs = len(item.text.encode()) + sum(len(term.encode()) for term in item.terms) + 16
                if part and (len(part) >= self.size or size + needs > self.bytes):
                    yield part
                    part, size = [], 0
                part.append(item)
                size += needs
        except LevtError:
            if part:
                yield part
            raise
        if part:
            yield part

    def answer(self, items: Sequence[Item]) -> tuple[list[Remote], LevtError | None]:
        """The results of a request; where it is refused, those of the texts before the one to blame."""
        body = {**self.settings, "texts": [item.text for item in items]}
        if any(item.terms for item in items):
            body["terms"] = [list(item.terms) for item in items]
        if "drop" in body:
            body["drop"] = [body["drop"]] * len(items)
        try:
            found = _results(self.client.ask("POST", "/v1/translate", body), len(items), self.client.url)
        except InputError as error:
            if len(items) == 1:
                # Which of its texts the server means is no news, and not the number that the caller knows it by.
                return [], InputError(error.message.removeprefix("text 1: "), hint=error.hint)
            middle = len(items) // 2
            first, trouble = self.answer(items[:middle])
            if trouble is not None:
                return first, trouble
            second, trouble = self.answer(items[middle:])
            return first + second, trouble
        except LevtError as error:
            return [], error
        return found, None


def _given(future: "Future[tuple[list[Remote], LevtError | None]]") -> Iterator[Remote]:
    results, trouble = future.result()
    yield from results
    if trouble is not None:
        raise trouble


def _results(answer: dict[str, Any], count: int, url: str) -> list[Remote]:
    """The results of an answer; one too few, and every line after it would belong to another."""
    try:
        found = [Remote(text=one["text"], fields=one) for one in answer["results"]]
    except (KeyError, TypeError):
        raise stranger(url, "answers without results") from None
    if len(found) != count:
        raise stranger(url, f"answers {count} texts with {len(found)} results")
    return found
