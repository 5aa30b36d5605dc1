"""What happens, counted for Prometheus. Needs the extra ``serve``; knows no request."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from levt.refine.loop import Outcome

FORMAT = "text/plain; version=0.0.4; charset=utf-8"
"""How the numbers are written."""


class Metrics:
    """The numbers of one server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter("levt_requests", "Requests answered.", ["path", "status"], registry=registry)
        self.seconds = Histogram(
            "levt_request_seconds",
            "Time from the request to the end of its answer.",
            ["path"],
            registry=registry,
        )
        self.texts = Counter(
            "levt_texts", "Texts, or parts of texts, refined.", ["stopped"], registry=registry
        )
        self.tokens = Counter("levt_tokens", "Tokens of results.", registry=registry)
        self.iterations = Histogram(
            "levt_iterations",
            "Iterations of a text.",
            buckets=(1, 2, 3, 4, 6, 8, 10, 20, 50),
            registry=registry,
        )
        self.steps = Histogram("levt_step_seconds", "Time of one iteration of the batch.", registry=registry)
        self.rows = Histogram(
            "levt_batch_rows", "Rows that shared an iteration.", buckets=(1, 2, 4, 8, 16, 32, 64, 128),
            registry=registry,
        )  # fmt: skip
        self.given_up = Counter("levt_given_up", "Texts given up, by reason.", ["reason"], registry=registry)

    def watch(self, name: str, what: str, value: Callable[[], float]) -> None:
        """A number that is looked up whenever somebody asks."""
        Gauge(name, what, registry=self.registry).set_function(value)

    def stepped(self, rows: int, seconds: float) -> None:
        """One iteration of so many rows was made."""
        self.rows.observe(rows)
        self.steps.observe(seconds)

    def finished(self, outcome: Outcome) -> None:
        """A text is done."""
        self.texts.labels(outcome.stopped).inc()
        self.tokens.inc(len(outcome.tokens))
        self.iterations.observe(outcome.iterations)

    def left(self, reason: str) -> None:
        """A text was given up."""
        self.given_up.labels(reason).inc()

    def answered(self, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All numbers."""
        return generate_latest(self.registry)
