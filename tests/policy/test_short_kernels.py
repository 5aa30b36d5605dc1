"""The sizes into which rows are sorted; the kernels themselves are compared on a GPU."""

from levt.policy.short_kernels import WHOLE, sizes


def test_every_row_belongs_to_exactly_one_size() -> None:
    for longest in range(1, 2 * WHOLE):
        found = sizes(longest)
        for keys in range(longest + 1):
            # Longer rows have kernels of their own.
            assert sum(low < keys <= top for low, top in found) == (keys <= WHOLE)
        # No launch is made for rows that cannot occur.
        assert all(low < longest for low, _ in found)
