"""How long a run still takes. Knows steps and seconds, nothing of what is learnt."""


class Pace:
    """The steps of this sitting and their seconds; those before a resume were another machine's, or another load's."""

    def __init__(self, step: int, now: float) -> None:
        self.step, self.now = step, now

    def left(self, step: int, max_steps: int, now: float, *, at_most: float | None = None) -> float:
        """Seconds until ``max_steps`` at the pace so far; ``at_most`` is what a limit of minutes leaves.

        A run goes on at step 900 of 1,000, and takes 20 seconds for ten steps:

        >>> pace = Pace(900, 5.0)
        >>> pace.left(910, 1_000, 25.0), pace.left(910, 1_000, 25.0, at_most=60.0)
        (180.0, 60.0)
        """
        each = (now - self.now) / max(step - self.step, 1)
        by_steps = each * max(max_steps - step, 0)
        return by_steps if at_most is None else max(min(by_steps, at_most), 0.0)
