"""Tokenizer: text to token ids and back, all of it in one ``tokenizer.json``. Knows no tensor and no corpus.

The file is the format of the ``tokenizers`` package, so whoever loads it there gets the same ids. Ids 0 … 4
are the special symbols, 5 … 260 single bytes, then come the learnt pieces. Symbols stand for themselves
only as ids: nothing typed in a text becomes one, and none is shown in decoded text.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models

from levt.errors import ConfigError, InputError, ModelError, reason
from levt.text import segmentation
from levt.text.learn import learn_bpe
from levt.text.normalise import Normalisation
from levt.text.specials import SPECIALS, UNK

LARGEST = 1 << 20
"""The most pieces that a vocabulary is learnt with: beyond it somebody has mistyped."""
SIZES = "8000 suits small corpora, 32000 large ones"

# The threads of the Rust side do not survive a fork: a parent that says nothing gets a warning, one that
# insists on them a child that hangs. So the parent says yes, unless told otherwise, and a child always no.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: os.environ.update(TOKENIZERS_PARALLELISM="false"))


class Tokenizer:
    """Text to ids and back.

    >>> tokenizer = Tokenizer.train(["a dog runs", "a cat runs"] * 9, 300)
    >>> tokenizer.pieces(tokenizer.encode("a dog naps"))
    ['▁a', '▁dog', '▁', 'n', 'a', '<0x70>', 's']
    >>> tokenizer.decode(tokenizer.encode("naïve ▁ <s>"))
    'naïve ▁ <s>'
    """

    def __init__(self, document: str) -> None:
        """From the text of a ``tokenizer.json``; usually by ``train``, ``from_pieces`` or ``load``."""
        # The document is kept as it was written: another version of the package may write it differently,
        # and the fingerprint must not change by that.
        self._document = document
        self._backend = tokenizers.Tokenizer.from_str(document)
        fields = json.loads(document)
        self._by_pieces: bool = fields["model"]["type"] == "WordLevel"
        self._size: int = self._backend.get_vocab_size(with_added_tokens=False)
        vocabulary: dict[str, int] = fields["model"]["vocab"]
        if any(vocabulary.get(name) != i for i, name in enumerate(SPECIALS)):
            raise ModelError(
                f"the tokenizer's first ids are not {' '.join(SPECIALS)}",
                hint="only a tokenizer made by levt can be used",
            )
        if sorted(vocabulary.values()) != list(range(self._size)) or fields["added_tokens"]:
            raise ModelError(
                "the tokenizer's ids have holes or added tokens",
                hint="only a tokenizer made by levt can be used",
            )

    @classmethod
    def train(
        cls,
        lines: Iterable[str],
        size: int,
        *,
        normalisation: Normalisation | None = None,
        progress: bool = False,
    ) -> "Tokenizer":
        """Learn a BPE vocabulary of at most ``size`` pieces, symbols and bytes included; holds all lines."""
        fixed = len(SPECIALS) + len(segmentation.BYTES)
        if size <= fixed:
            raise ConfigError(
                f"a vocabulary must be larger than the {fixed} symbols and bytes, got {size}", hint=SIZES
            )
        if size > LARGEST:  # the learner takes memory for all of them before it looks at the text
            raise ConfigError(f"a vocabulary must be at most {LARGEST:,} pieces, got {size:,}", hint=SIZES)
        normalizer = segmentation.mark_spaces((normalisation or Normalisation()).steps())
        units = segmentation.units()
        held = [checked(line) for line in lines]
        model = learn_bpe(held, size, normalizer=normalizer, units=units, progress=progress)
        return cls._assembled(model, normalizer, units, segmentation.joined_bpe())

    @classmethod
    def from_pieces(cls, vocabulary: Sequence[str], *, continuation: str | None = None) -> "Tokenizer":
        """For text already segmented, pieces between spaces: ids 5 … in the order of ``vocabulary``.

        >>> tokenizer = Tokenizer.from_pieces(["hel@@", "lo"], continuation="@@")
        >>> tokenizer.encode("hel@@ lo world"), tokenizer.decode([5, 6])
        ([5, 6, 3], 'hello')
        """
        pieces = [*SPECIALS, *vocabulary]
        repeated = [piece for piece, times in Counter(pieces).items() if times > 1]
        if repeated:
            raise ConfigError(
                f"pieces occur twice or are symbols: {' '.join(map(repr, repeated[:5]))}",
                hint=f"each must occur once, and none be {' '.join(SPECIALS)}",
            )
        if spaced := [piece for piece in vocabulary if piece == "" or " " in checked(piece)]:
            raise ConfigError(
                f"a piece must not be empty nor hold a space, got {spaced[0]!r}",
                hint="spaces stand between pieces",
            )
        if continuation is not None and (continuation == "" or " " in continuation):
            raise ConfigError(
                f"continuation must be a mark such as '@@', got {continuation!r}",
                hint="leave it out where no piece is marked",
            )
        model = models.WordLevel({piece: i for i, piece in enumerate(pieces)}, unk_token=SPECIALS[UNK])
        return cls._assembled(
            model,
            segmentation.typed_symbols_unknown(),
            segmentation.between_spaces(),
            segmentation.joined_pieces(continuation),
        )

    @classmethod
    def _assembled(cls, model: Any, normalizer: Any, pre_tokenizer: Any, decoder: Any) -> "Tokenizer":
        whole = tokenizers.Tokenizer(model)
        whole.normalizer, whole.pre_tokenizer, whole.decoder = normalizer, pre_tokenizer, decoder
        return cls(whole.to_str())

    def normalise(self, text: str) -> str:
        """The text that ``decode`` gives back after ``encode``."""
        text = self._backend.normalizer.normalize_str(checked(text))
        if self._by_pieces:
            joined: str = self._backend.decoder.decode([piece for piece in text.split(" ") if piece])
            return joined
        return segmentation.unmark_spaces(text)

    def encode(self, text: str) -> list[int]:
        """Token ids without boundaries; the empty text has none."""
        ids: list[int] = self._backend.encode(checked(text), add_special_tokens=False).ids
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of many texts, on all cores."""
        found = self._backend.encode_batch_fast([checked(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def decode(self, ids: Iterable[int]) -> str:
        """The text; symbols and ids outside the vocabulary are passed over, broken bytes become U+FFFD."""
        text: str = self._backend.decode(self._shown(ids), skip_special_tokens=False)
        return text

    def decode_batch(self, rows: Iterable[Iterable[int]]) -> list[str]:
        """The texts of many rows of ids, on all cores."""
        texts: list[str] = self._backend.decode_batch(
            [self._shown(ids) for ids in rows], skip_special_tokens=False
        )
        return texts

    def _shown(self, ids: Iterable[int]) -> list[int]:
        return [int(i) for i in ids if len(SPECIALS) <= i < self._size]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each id as written in the vocabulary, symbols by name."""
        return [self._backend.id_to_token(int(i)) or SPECIALS[UNK] if i >= 0 else SPECIALS[UNK] for i in ids]

    def id_of(self, piece: str) -> int | None:
        """The id of a piece or of a symbol's name, None where there is none."""
        found: int | None = self._backend.token_to_id(piece)
        return found

    @property
    def by_pieces(self) -> bool:
        """Whether texts come already segmented, pieces between spaces."""
        return self._by_pieces

    @property
    def size(self) -> int:
        """Number of ids, symbols included."""
        return self._size

    def __len__(self) -> int:
        return self._size

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the tokenizer; equal fingerprints give equal ids."""
        canonical = json.dumps(json.loads(self._document), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"Tokenizer(size={self._size}, fingerprint={self.fingerprint[:8]})"

    def __reduce__(self) -> tuple[type["Tokenizer"], tuple[str]]:
        return Tokenizer, (self._document,)

    def save(self, path: str | Path) -> None:
        """Write the tokenizer to a file, whole or not at all."""
        path = Path(path)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as file:
                file.write(self._document)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> "Tokenizer":
        """Read a tokenizer from a file."""
        hint = "a tokenizer.json is written by `levt prepare` and lies in every store and model folder"
        try:
            document = Path(path).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError(f"{path} cannot be read: {reason(error)}", hint=hint) from error
        try:
            return cls(document)
        except ModelError as error:
            raise ModelError(f"{path}: {error.message}", hint=error.hint or hint) from error
        except Exception as error:  # the Rust side raises plain Exception, json and our look inside others
            raise ModelError(f"{path} is damaged or not a tokenizer: {error}", hint=hint) from error


def checked(text: str) -> str:
    """The text itself, if it is one: lone surrogates are no text and have no bytes.

    >>> checked("caf\\udce9")
    Traceback (most recent call last):
    levt.errors.InputError: the text holds a lone surrogate, '\\udce9' at character 3
    hint: read files as UTF-8 and without errors="surrogateescape"
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the text holds a lone surrogate, {text[error.start]!r} at character {error.start}",
            hint='read files as UTF-8 and without errors="surrogateescape"',
        ) from error
    return text
