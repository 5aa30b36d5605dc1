"""One thing to refine, in tokens: a source, a draft, and what the person has already decided. Knows no tensor."""

from dataclasses import dataclass, field

from levt.edits.script import token_problems
from levt.errors import InputError, raise_all
from levt.refine.options import Options

Tokens = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Request:
    """A source and a draft (empty: write from nothing), with locks and crossings-out; all without boundaries."""

    source: Tokens
    """x."""
    draft: Tokens = ()
    """y⁰."""
    locked: tuple[bool, ...] = ()
    """One per token of the draft: True where it must survive (none given: nothing is locked)."""
    glued: tuple[bool, ...] = ()
    """One per token of the draft: True where nothing may come between it and its left neighbour."""
    drop: tuple[bool, ...] = ()
    """One per token of the draft: True where it must go in the first iteration."""
    open: dict[int, int] = field(default_factory=dict)
    """Placeholders to open in the first iteration: gap of the draft → how many."""
    only: dict[int, Tokens] = field(default_factory=dict)
    """Gap of ``open`` → what may be written into the placeholders opened there; it stays until the end."""
    banned: tuple[Tokens, ...] = ()
    """Sequences of tokens that must not stand in the result."""
    options: Options = field(default_factory=Options)
    """The settings of this request."""

    def __post_init__(self) -> None:
        problems = token_problems(self.draft, "the draft")
        for name in ("locked", "glued", "drop"):
            given = getattr(self, name)
            if given and len(given) != len(self.draft):
                problems.append(
                    f"{name} must have one value per draft token ({len(self.draft)}), got {len(given)}"
                )
            if not given:
                object.__setattr__(self, name, (False,) * len(self.draft))
        for gap, count in self.open.items():
            if not 0 <= gap <= len(self.draft):
                problems.append(f"open: gap must be between 0 and {len(self.draft)}, got {gap}")
            if count < 0:
                problems.append(f"open: count must be at least 0, got {count}")
        problems += [f"only: nothing is opened in gap {gap}" for gap in self.only if gap not in self.open]
        problems += [f"only: gap {gap} must have a choice" for gap, tokens in self.only.items() if not tokens]
        if not problems:
            for i, (lock, drop) in enumerate(zip(self.locked, self.drop, strict=True)):
                if lock and drop:
                    problems.append(f"token {i} of the draft is both locked and crossed out")
            for gap, count in self.open.items():
                if count and gap < len(self.draft) and self.glued[gap]:
                    problems.append(f"open: gap {gap} lies inside a span that must stay whole")
        if any(not sequence for sequence in self.banned):
            problems.append("banned: a sequence must have at least one token")
        raise_all(
            InputError,
            "request",
            problems,
            hint="marks have one value per token of the draft; gap i lies before token i, the last one behind all",
        )

    @property
    def steered(self) -> bool:
        """True when the first iteration differs from the others."""
        # Who asks for no placeholder in a gap has asked, too.
        return any(self.drop) or bool(self.open)
