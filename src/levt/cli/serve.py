"""``levt serve``: the server and its editor page."""

from pathlib import Path

from levt.cli._flags import AnyModel, Many, Maybe
from levt.cli._model import DEFAULT


def serve(
    model: AnyModel = DEFAULT,
    host: str = "127.0.0.1",
    port: int = 8000,
    token_file: Maybe[Path] = None,
    cors: Many[str] = (),
    allow_host: Many[str] = (),
    engine: str = "auto",
    device: Maybe[str] = None,
    dtype: Maybe[str] = None,
    threads: Maybe[int] = None,
    rows: int = 64,
    tokens: int = 8192,
    max_bytes: int = 1 << 20,
    max_texts: int = 256,
    max_tokens: int = 2048,
    max_iterations: int = 50,
    max_terms: int = 16,
    queue: int = 4096,
    seconds: float = 60.0,
) -> None:
    """Answer over HTTP, and show the editor in a browser.

    Example: levt serve runs/multi30k-levt/best --port 8000

    Args:
        model: Name of a bundled model, a model folder, or an id of the hub (user/name).
        host: Address to listen on; 0.0.0.0 lets other machines in.
        port: Port to listen on; 0 takes a free one.
        token_file: File with the bearer token that every costly or telling request must bring.
        cors: Origins of other pages that may ask (https://example.org); by default none.
        allow_host: Further names by which this server may be asked, as behind a proxy; by default none.
        engine: What runs it: torch, cuda, onnx, onnx-int8 or native; auto: torch on a GPU, else the fastest exact one.
        device: cpu, cuda or cuda:N; by default a GPU where there is one.
        dtype: float32, bfloat16, float16 or int8; by default bfloat16 on a GPU, int8 with native, float32 elsewhere.
        threads: Threads among which the texts of an iteration are shared out on a CPU; by default one per core.
        rows: Most texts that go through the model together.
        tokens: Most tokens that go through the model together, padding counted.
        max_bytes: Largest request, in bytes.
        max_texts: Most texts in a request.
        max_tokens: Most tokens of a text.
        max_iterations: Most iterations that a request may ask for.
        max_terms: Most terms of a text.
        queue: Most texts that wait.
        seconds: Longest time for an answer, in seconds.
    """
    import importlib
    import sys

    import torch

    from levt.cli._model import open_model
    from levt.engine.batching import Budget
    from levt.engine.engine import AUTO, on_gpu
    from levt.errors import ConfigError, MissingExtra
    from levt.serving.limits import Limits

    for package in ("fastapi", "uvicorn", "prometheus_client"):
        try:
            importlib.import_module(package)
        except ImportError:
            raise MissingExtra(package, "serve") from None
    from levt.serving.app import LOCAL, create_app
    from levt.serving.server import address_of, listen, make_server, own_names
    from levt.serving.service import Service

    limits = Limits(
        bytes=max_bytes,
        texts=max_texts,
        tokens=max_tokens,
        iterations=max_iterations,
        terms=max_terms,
        queue=queue,
        seconds=seconds,
    )
    if threads is not None and threads < 1:
        raise ConfigError(f"threads must be at least 1, got {threads}", hint="leave it out for one per core")
    token = None if token_file is None else read_token(token_file)
    if threads is not None:
        torch.set_num_threads(threads)
    if engine == AUTO and on_gpu(device):
        # Texts of all rounds share a pass, which captured phases do not do.
        engine = "torch"
    loaded = open_model(model, engine=engine, device=device, dtype=dtype, flag="levt serve")
    threads = max(torch.get_num_threads(), 1) if threads is None else threads
    if rows > 1:
        # Texts are shared out among threads; threads inside an operation would only wait for each other.
        torch.set_num_threads(1)
    budget = Budget(rows=rows, tokens=tokens)
    service = Service(loaded, served_name(model), limits, budget, threads)
    with listen(host, port) as listening:
        own, local = own_names(listening)
        # On loopback only the names of this machine are answered to: a page that makes its own name point here is not.
        hosts = (*LOCAL, host, *own, *allow_host) if local or allow_host else None
        if not local and token is None:
            print(
                f"anyone who can reach {host} can use this server; --token-file asks for a token",
                file=sys.stderr,
            )
        gate = create_app(service, token=token, cors=cors, hosts=hosts)
        address = address_of(listening)
        server = make_server(
            gate, begun=lambda: print(f"levt listens on {address} (Ctrl-C ends it)", file=sys.stderr)
        )
        server.run(sockets=[listening])


def served_name(model: str) -> str:
    """What a model is called by its clients: its folder, and that of the run where it is the best of one.

    >>> served_name("levt-en-de"), served_name("user/name"), served_name("runs/typos/best/")
    ('levt-en-de', 'name', 'typos/best')
    """
    path = Path(model).resolve()
    return f"{path.parent.name}/best" if path.name == "best" else path.name or model


def read_token(path: Path) -> str:
    """The token in a file: one line, without the spaces around it."""
    from levt.errors import ConfigError, reason

    hint = "write a secret word to a file: openssl rand -hex 16 > token.txt"
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token file {path} cannot be read: {reason(error)}", hint=hint) from None
    if not token or not token.isascii() or any(character.isspace() for character in token):
        raise ConfigError(f"the token file {path} must hold one word of ASCII characters", hint=hint)
    return token
