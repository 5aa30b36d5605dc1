"""What a network is, in numbers: one frozen dataclass per kind, saved as JSON.

Knows no tensor. A field with the prefix ``encoder_`` that is None says: as in the decoder.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from levt.errors import FLAGS, ConfigError, raise_all, wrong_choices
from levt.text.specials import SPECIALS

Policy = Literal["delete", "placeholder", "token"]
"""The three policies of LevT, in the order in which one iteration asks them."""
POLICIES: tuple[Policy, ...] = ("delete", "placeholder", "token")

Sharing = Literal["all", "plh+tok", "tok+del", "plh+del", "none"]
Positions = Literal["sinusoidal", "learned", "none"]
Norm = Literal["post", "pre"]
Activation = Literal["relu", "gelu", "gelu_tanh", "silu", "tanh"]

TOWERS: dict[Sharing, tuple[tuple[Policy, ...], ...]] = {
    "all": (("delete", "placeholder", "token"),),
    "plh+tok": (("delete",), ("placeholder", "token")),
    "tok+del": (("placeholder",), ("delete", "token")),
    "plh+del": (("delete", "placeholder"), ("token",)),
    "none": (("delete",), ("placeholder",), ("token",)),
}
"""Which policies stand on one decoder tower, for every way of sharing."""


CONFIGS: dict[str, type["ModelConfig"]] = {}
"""Every kind of network by its name; a configuration that names its kind is entered when it is defined."""

LONGEST, DEEPEST = 1_000_000, 1_000
"""Most positions and blocks: beyond every network there is, and what a hand that would do harm may ask for."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What every kind of network has."""

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if "kind" not in cls.__dict__:
            return
        other = CONFIGS.get(cls.kind, cls)
        # The file of a recipe may be read twice.
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{cls.__name__} has the kind {cls.kind!r}, which is that of {other.__name__}")
        CONFIGS[cls.kind] = cls

    source_vocabulary: int
    """Number of source tokens, special symbols included."""
    target_vocabulary: int
    """Number of target tokens, special symbols included."""
    joint_embeddings: bool = True
    """One table for source, target and output; needs one vocabulary. Otherwise the source has its own."""
    tie_output: bool = True
    """The output reads the target's table; otherwise it has a matrix of its own."""
    width: int = 512
    """d: size of a state."""
    max_length: int = 1024
    """Longest sequence, boundaries included."""
    dropout: float = 0.3
    """Share of values dropped after the embedding and after each sublayer."""

    def __post_init__(self) -> None:
        raise_all(ConfigError, f"{self.kind} model", list(self.problems()), hint=FLAGS)

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the values."""
        yield from wrong_choices(self)
        yield from self._at_least("source_vocabulary", len(SPECIALS))
        yield from self._at_least("target_vocabulary", len(SPECIALS))
        if self.joint_embeddings and self.source_vocabulary != self.target_vocabulary:
            yield (
                "joint_embeddings needs one vocabulary, got "
                f"source_vocabulary {self.source_vocabulary} and target_vocabulary {self.target_vocabulary}"
            )
        if self.joint_embeddings and not self.tie_output:
            yield "joint_embeddings ties the output too, got tie_output False"
        yield from self._at_least("width", 1)
        yield from self._at_least("max_length", 2)
        yield from self._at_most("max_length", LONGEST)
        yield from self._share("dropout")

    def _at_least(self, name: str, least: int) -> Iterator[str]:
        value = getattr(self, name)
        if value is not None and value < least:
            yield f"{name} must be at least {least}, got {value}"

    def _at_most(self, name: str, most: int) -> Iterator[str]:
        value = getattr(self, name)
        if value > most:
            yield f"{name} must be at most {most:,}, got {value}"

    def _share(self, name: str) -> Iterator[str]:
        value = getattr(self, name)
        if not 0 <= value < 1:
            yield f"{name} must be at least 0 and below 1, got {value}"

    @property
    def fewest_weights(self) -> int:
        """No network of these sizes has fewer numbers: so many a file must hold, before one is built for it."""
        return self.target_vocabulary * self.width

    def to_json(self) -> dict[str, Any]:
        """The kind and all fields, as JSON values.

        >>> RecurrentConfig(source_vocabulary=9, target_vocabulary=9).to_json()["kind"]
        'recurrent'
        """
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(ModelConfig):
    """What every Transformer has."""

    hidden: int = 2048
    """Size of the inner layer of the feed-forward part."""
    heads: int = 8
    """Attention heads; they share the width between them."""
    encoder_layers: int = 6
    """Depth of the encoder."""
    decoder_layers: int = 6
    """Depth of the decoder."""
    positions: Positions = "sinusoidal"
    """How a token knows its place."""
    norm: Norm = "post"
    """Normalise after each sublayer, as the paper does, or before it."""
    final_norm: bool = True
    """With norm pre: normalise what leaves the decoder. (The encoder always does.)"""
    activation: Activation = "relu"
    """Nonlinearity of the feed-forward part."""
    attention_dropout: float = 0.0
    """Share of attention weights dropped; above 0 training cannot use the variable-length kernel."""
    activation_dropout: float = 0.0
    """Share of values dropped inside the feed-forward part."""
    scale_embedding: bool = True
    """Multiply token embeddings by the square root of the width."""
    normalise_embedding: bool = False
    """Normalise the sum of token and position embedding."""
    encoder_width: int | None = None
    """Size of an encoder state, where it differs."""
    encoder_hidden: int | None = None
    """Inner size of the encoder's feed-forward part, where it differs."""
    encoder_heads: int | None = None
    """Heads of the encoder, where they differ."""
    encoder_positions: Positions | None = None
    """Positions of the encoder, where they differ."""
    encoder_norm: Norm | None = None
    """Normalisation of the encoder, where it differs."""
    encoder_normalise_embedding: bool | None = None
    """Normalisation of the encoder's embedding, where it differs."""

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the values."""
        yield from super().problems()
        for name in ("hidden", "heads", "encoder_layers", "decoder_layers"):
            yield from self._at_least(name, 1)
        for name in ("encoder_width", "encoder_hidden", "encoder_heads"):
            yield from self._at_least(name, 1)
        for name in ("encoder_layers", "decoder_layers"):
            yield from self._at_most(name, DEEPEST)
        for name in ("attention_dropout", "activation_dropout"):
            yield from self._share(name)
        if self.heads > 0 and self.width % self.heads:
            yield f"width must be a multiple of heads ({self.heads}), got {self.width}"
        width, heads = self.of_encoder("width"), self.of_encoder("heads")
        if (width, heads) != (self.width, self.heads) and heads > 0 and width % heads:
            yield f"encoder_width must be a multiple of encoder_heads ({heads}), got {width}"
        if self.joint_embeddings and width != self.width:
            yield f"joint_embeddings needs one width, got width {self.width} and encoder_width {width}"
        for side, positions, size in (
            ("", self.positions, self.width),
            ("encoder_", self.of_encoder("positions"), width),
        ):
            if positions == "sinusoidal" and (size % 2 or size < 4):
                yield f"sinusoidal positions need an even {side}width of at least 4, got {size}"

    @property
    def fewest_weights(self) -> int:
        """Embeddings, and of each block four products of attention and two of the feed-forward part."""
        sides = (
            (self.encoder_layers, self.of_encoder("width"), self.of_encoder("hidden")),
            (self.blocks, self.width, self.hidden),
        )
        return super().fewest_weights + sum(
            depth * (4 * width + 2 * hidden) * width for depth, width, hidden in sides
        )

    @property
    def blocks(self) -> int:
        """Blocks of all decoder towers."""
        return self.decoder_layers

    def of_encoder(self, name: str) -> Any:
        """The encoder's value of a field: its own where it has one, else the decoder's."""
        own = getattr(self, f"encoder_{name}")
        return getattr(self, name) if own is None else own


@dataclass(frozen=True, kw_only=True)
class LevTConfig(TransformerConfig):
    """The Levenshtein Transformer.

    >>> LevTConfig(source_vocabulary=9, target_vocabulary=9, sharing="plh+tok", delete_exit=2).depths
    {('delete',): 2, ('placeholder', 'token'): 6}
    """

    kind: ClassVar[str] = "levt"

    sharing: Sharing = "all"
    """Which policies share a decoder tower; one that is not named has its own."""
    delete_exit: int | None = None
    """Depth at which the delete policy leaves the decoder; None: at the top."""
    placeholder_exit: int | None = None
    """Depth at which the placeholder policy leaves the decoder; None: at the top."""
    token_exit: int | None = None
    """Depth at which the token policy leaves the decoder; None: at the top, as in the paper."""
    max_count: int = 255
    """K_max of Eq. (4), which the paper leaves open: most placeholders in one gap."""

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the values."""
        yield from super().problems()
        for policy in POLICIES:
            depth = self.exit_of(policy)
            if not 1 <= depth <= max(self.decoder_layers, 1):
                allowed = f"between 1 and decoder_layers ({self.decoder_layers})"
                yield f"{policy}_exit must be {allowed}, got {depth}"
        yield from self._at_least("max_count", 1)

    def exit_of(self, policy: Policy) -> int:
        """Depth at which a policy leaves the decoder."""
        depth: int | None = getattr(self, f"{policy}_exit")
        return self.decoder_layers if depth is None else depth

    def shares(self, one: Policy, other: Policy) -> bool:
        """Whether two policies see a state alike: the same tower up to the same exit."""
        together = any(one in group and other in group for group in TOWERS[self.sharing])
        return together and self.exit_of(one) == self.exit_of(other)

    @property
    def fewest_weights(self) -> int:
        """The same, and the matrix B of Eq. (4)."""
        return super().fewest_weights + (self.max_count + 1) * 2 * self.width

    @property
    def blocks(self) -> int:
        """Blocks of all decoder towers."""
        return sum(self.depths.values())

    @property
    def depths(self) -> dict[tuple[Policy, ...], int]:
        """Each tower, by the policies that stand on it, with its depth: no deeper than its last exit."""
        return {group: max(self.exit_of(p) for p in group) for group in TOWERS[self.sharing]}


@dataclass(frozen=True, kw_only=True)
class AutoregressiveConfig(TransformerConfig):
    """The Transformer that writes from left to right: baseline and teacher."""

    kind: ClassVar[str] = "autoregressive"


@dataclass(frozen=True, kw_only=True)
class PostEditingConfig(TransformerConfig):
    """The paper's baseline for post-editing: left to right, from source and draft together."""

    kind: ClassVar[str] = "post-editing"

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the values."""
        yield from super().problems()
        if self.of_encoder("width") != self.width:
            yield f"the encoder reads the draft too: encoder_width must be width, got {self.encoder_width}"


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig(ModelConfig):
    """One LSTM layer each for source and target, with attention: the paper's imperfect translator.

    It likes learning rates that a Transformer would not (3e-3).
    """

    kind: ClassVar[str] = "recurrent"

    dropout: float = 0.1
    """Share of values dropped after the embedding and before the output."""
    bidirectional: bool = False
    """Read the source from both ends; the paper's system reads it from the left."""

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the values."""
        yield from super().problems()
        if self.bidirectional and self.width % 2:
            yield f"width must be even for a bidirectional encoder, got {self.width}"
