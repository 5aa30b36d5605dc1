"""Trace: a whole refinement of one sequence, from the draft to the result, exact and readable by anyone.

Holds every edit with the text of its tokens, so that it can be replayed, shown and checked without the
tokenizer or the model that made it. Knows no way of showing it: that is for the renderers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from levt.edits import follow
from levt.edits.follow import Change, Op, Token
from levt.edits.iteration import Iteration
from levt.edits.read_json import HINT, build, read_ints, read_list, read_object, read_strings, shown
from levt.edits.script import EditScript, token_problems
from levt.edits.words import join, starts_word
from levt.errors import InputError, raise_all
from levt.text.segmentation import SPACE

VERSION = 1
"""Version of the JSON form; a reader refuses any other."""

STOPS = {
    "unchanged": "nothing was deleted and nothing inserted",
    "repeated": "deletion gave the same state as in the iteration before",
    "cycle": "a state seen before came back",
    "limit": "the limit on iterations was reached",
}
"""Why a refinement stops, and how to say it."""


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A refinement: the draft, the iterations, and why it stopped."""

    draft: tuple[int, ...]
    """The tokens of y⁰, without boundaries; none when it starts from nothing."""
    draft_pieces: tuple[str, ...]
    """The text of each token of the draft."""
    iterations: tuple[Iteration, ...]
    """What was done, in order; one that only confirms counts."""
    stopped: str | None = None
    """A key of ``STOPS``; ``None`` while it is still going on."""

    def __post_init__(self) -> None:
        problems = token_problems(self.draft, "draft")
        if len(self.draft_pieces) != len(self.draft):
            problems.append(
                f"draft_pieces must have one text per token, {len(self.draft)} here, "
                f"got {len(self.draft_pieces)}"
            )
        length = len(self.draft)
        for number, iteration in enumerate(self.iterations, 1):
            script = iteration.script
            if len(script.drop) != length:
                problems.append(
                    f"iteration {number} must edit {length} tokens, its script has {len(script.drop)}"
                )
            length = script.drop.count(False) + len(script.fill)
        if self.stopped is not None and self.stopped not in STOPS:
            problems.append(f"stopped must be one of {', '.join(STOPS)}, got {self.stopped!r}")
        raise_all(InputError, "trace", problems)

    @classmethod
    def of(
        cls,
        draft: Sequence[int],
        scripts: Sequence[EditScript],
        piece: Callable[[int], str],
        *,
        stopped: str | None = None,
    ) -> "Trace":
        """A trace without probabilities; ``piece`` gives the text of a token.

        >>> script = EditScript(drop=(False,), counts=(0, 1), fill=(6,))
        >>> Trace.of([5], [script], {5: "▁Hun", 6: "d"}.__getitem__).text
        'Hund'
        """
        return cls(
            draft=tuple(draft),
            draft_pieces=tuple(piece(token) for token in draft),
            iterations=tuple(Iteration(script=s, pieces=tuple(map(piece, s.fill))) for s in scripts),
            stopped=stopped,
        )

    def apart(self) -> "Trace":
        """The same with a space before every piece: pieces that were given stand between spaces.

        Where some of them bring their spaces along, as ``▁``, all do.

        >>> script = EditScript(drop=(False,), counts=(0, 1), fill=(6,))
        >>> Trace.of([5], [script], {5: "Hun@@", 6: "de"}.__getitem__).apart().text
        'Hun@@ de'
        """
        known = [*self.draft_pieces, *(piece for one in self.iterations for piece in one.pieces)]
        if any(map(starts_word, known)):
            return self
        return replace(
            self,
            draft_pieces=tuple(SPACE + piece for piece in self.draft_pieces),
            iterations=tuple(
                replace(one, pieces=tuple(SPACE + piece for piece in one.pieces)) for one in self.iterations
            ),
        )

    def replay(self) -> list[tuple[int, ...]]:
        """The states in order: the draft, then the state after each iteration."""
        states = [self.draft]
        for iteration in self.iterations:
            states.append(iteration.script.apply(states[-1]))
        return states

    def states(self) -> list[tuple[Token, ...]]:
        """The states of ``replay`` as tokens that know who they are: an equal identity is the same token."""
        return follow.states(self.start(), self.iterations)

    def changes(self) -> list[tuple[Change, ...]]:
        """What each iteration kept, deleted and inserted, in reading order."""
        return follow.changes(self.start(), self.iterations)

    def ops(self) -> Iterator[Op]:
        """Every single edit: per iteration the deletions, then the placeholders, then what fills them."""
        return follow.ops(self.changes())

    def start(self) -> tuple[Token, ...]:
        """The draft as tokens that know who they are."""
        pairs = zip(self.draft, self.draft_pieces, strict=True)
        return tuple(
            Token(identity=i, token=token, piece=piece, born=0) for i, (token, piece) in enumerate(pairs)
        )

    @property
    def result(self) -> tuple[int, ...]:
        """The tokens of the last state."""
        return self.replay()[-1]

    @property
    def result_pieces(self) -> tuple[str, ...]:
        """The text of each token of the last state."""
        return tuple(token.piece for token in self.states()[-1])

    @property
    def text(self) -> str:
        """The last state as text."""
        return join(self.result_pieces)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values. The result is written out too, for readers that do not replay."""
        return {
            "version": VERSION,
            "draft": {"tokens": list(self.draft), "pieces": list(self.draft_pieces)},
            "iterations": [iteration.to_json() for iteration in self.iterations],
            "stopped": self.stopped,
            "result": {"tokens": list(self.result), "pieces": list(self.result_pieces), "text": self.text},
        }

    @classmethod
    def from_json(cls, value: Any, where: str = "trace") -> "Trace":
        """The trace that ``to_json`` wrote; anything else, or a result the edits do not give, is refused."""
        fields = read_object(value, where, {"version", "draft", "iterations", "stopped", "result"})
        if type(fields["version"]) is not int or fields["version"] != VERSION:
            raise InputError(
                f"{where}.version must be {VERSION}, got {shown(fields['version'])}",
                hint="the trace was written by another version of levt",
            )
        draft = read_object(fields["draft"], f"{where}.draft", {"tokens", "pieces"})
        if fields["stopped"] is not None and not isinstance(fields["stopped"], str):
            raise InputError(
                f"{where}.stopped must be a string or null, got {shown(fields['stopped'])}", hint=HINT
            )
        trace = build(
            cls,
            where,
            draft=read_ints(draft["tokens"], f"{where}.draft.tokens"),
            draft_pieces=read_strings(draft["pieces"], f"{where}.draft.pieces"),
            iterations=tuple(
                Iteration.from_json(item, f"{where}.iterations[{i}]")
                for i, item in enumerate(read_list(fields["iterations"], f"{where}.iterations"))
            ),
            stopped=fields["stopped"],
        )
        if fields["result"] != trace.to_json()["result"]:
            raise InputError(
                f"{where}.result is not what the edits give, got {shown(fields['result'])}",
                hint="the file was changed after it was written",
            )
        return trace
