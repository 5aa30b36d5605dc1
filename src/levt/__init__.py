"""levt: text generation by editing. The names listed in ``__all__`` are the public surface; nothing else is promised."""

__version__ = "0.1.0"

__all__ = ["__version__"]
