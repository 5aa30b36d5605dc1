"""Standard output in colours. Knows no verb."""

from rich.console import Console


class Output(Console):
    """A console for what a verb prints: where nobody reads any more, it ends as every other output of ours does."""

    def on_broken_pipe(self) -> None:
        """Say so, where rich would end the process with a status of its own."""
        raise BrokenPipeError
