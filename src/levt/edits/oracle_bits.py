"""The oracle's alignment on the CPU: bit-parallel longest common subsequences, the whole batch at once.

A row of the table, L[i][0…t], rises by at most one per column, so it is stored as one bit per column:
bit j of D_i is set where L[i][j+1] = L[i][j] + 1. With S = ¬D and the bits M_i where the target equals
token i, Hyyrö's recurrence makes the next row in five word operations: U = S ∧ M_i, S ← (S + U) ∨ (S − U).
"""

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from levt.text.specials import PAD

Words = NDArray[np.uint64]
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


def align_bits(y: Int[Tensor, "b n"], target: Int[Tensor, "b t"]) -> Int[Tensor, "b n"]:
    """``align_reference`` (leftmost) for a padded batch of tensors on the CPU."""
    if not y.numel() or not target.numel():
        return torch.full_like(y, -1)
    tokens, wanted = y.numpy().astype(np.int32), target.numpy().astype(np.int32)
    tokens[tokens == PAD] = -1
    match = _walk_back(_rows(_equal_bits(tokens, wanted)), target.shape[1])
    return torch.from_numpy(match).to(y.dtype)


def _equal_bits(tokens: NDArray[np.int32], wanted: NDArray[np.int32]) -> Words:
    """M: for each token the bits of the target positions that hold the same one, [n, words, b]."""
    (b, n), t = tokens.shape, wanted.shape[1]
    octets = np.packbits(tokens[:, :, None] == wanted[:, None, :], axis=2, bitorder="little")
    words = np.zeros((b, n, -(-t // 64) * 8), np.uint8)
    words[:, :, : octets.shape[2]] = octets
    return np.ascontiguousarray(words.view("<u8").transpose(1, 2, 0))


def _rows(same: Words) -> Words:
    """D: the rising columns of every row of the table, [n+1, words, b]."""
    n, words, b = same.shape
    rising = np.zeros((n + 1, words, b), np.uint64)
    flat = np.full((words, b), _ONES)
    for i in range(n):
        carry = np.zeros(b, np.uint64)
        for w in range(words):
            both = flat[w] & same[i, w]
            total = flat[w] + both
            sum_ = total + carry
            if words > 1:
                carry = ((total < both) | (sum_ < total)).astype(np.uint64)
            flat[w] = sum_ | (flat[w] ^ both)
        np.invert(flat, out=rising[i + 1])
    return rising


def _walk_back(rising: Words, t: int) -> NDArray[np.int64]:
    """Follow the tie rule from the right ends, one token of every row at a time."""
    steps, words, b = rising.shape
    # `allowed`: the first j columns of the target, those still free to be matched; at first all of them.
    columns = np.arange(words * 64).reshape(words, 64) < t
    allowed = np.packbits(columns, axis=1, bitorder="little").view("<u8") | np.zeros((1, b), np.uint64)
    match = np.full((b, steps - 1), -1, np.int64)
    for i in range(steps - 1, 0, -1):
        here, above = rising[i] & allowed, rising[i - 1] & allowed
        keep = np.bitwise_count(here).sum(0) != np.bitwise_count(above).sum(0)
        # The last rise within the allowed columns is where row i reaches its value: the token's partner.
        word, bit = _highest(here)
        match[:, i - 1] = np.where(keep, word * 64 + bit, -1)
        below = (np.uint64(1) << bit.astype(np.uint64)) - np.uint64(1)
        for w in range(words):
            limit = np.where(w < word, _ONES, np.where(w == word, below, np.uint64(0)))
            allowed[w] = np.where(keep, allowed[w] & limit, allowed[w])
    return match


def _highest(here: Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Word and bit of the highest set bit of each column of words (bit 0 of word 0 where none is set)."""
    word = np.zeros(here.shape[1], np.int64)
    value = here[0]
    for w in range(1, here.shape[0]):
        set_ = here[w] != 0
        word, value = np.where(set_, w, word), np.where(set_, here[w], value)
    upper = value >> np.uint64(32)
    # Halves of 32 bits are exact as floats; the exponent is one above the highest bit.
    half = np.where(upper != 0, upper, value).astype(np.uint32)
    bit = np.maximum(np.frexp(half.astype(np.float64))[1] - 1, 0) + np.where(upper != 0, 32, 0)
    return word, bit.astype(np.int64)
