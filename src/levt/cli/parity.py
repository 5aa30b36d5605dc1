"""Compare a converted fairseq model with what fairseq itself computed."""

import math
import sys

from levt.cli._flags import Folder


def parity(folder: Folder, *, tolerance: float = 1e-4) -> None:
    """Compare a converted fairseq checkpoint with recorded numbers and texts of fairseq; exit 1 where they differ.

    Example: levt parity recorded

    The folder holds checkpoint.pt, dict.txt (dict.source.txt too where the source has its own), expected.json and
    expected.npz. The first of these two is {"cases": [{"id", "source", "state", "state_with_placeholders"}, …]}, lists
    of pieces without boundaries; the second has for each id ID.encoder (states), ID.delete, ID.placeholder and
    ID.token, in natural log-probabilities (tokens at the placeholders only, in order). Beside the cases, "decoding" may
    list {"source", "empty_gap_penalty", "output"}: what fairseq wrote from nothing in at most ten iterations.

    Args:
        folder: Folder with the checkpoint and the recorded numbers.
        tolerance: Largest absolute difference that is allowed.
    """
    from levt.convert.fairseq_parity import decoding
    from levt.convert.fairseq_parity import parity as compare
    from levt.errors import ConfigError
    from levt.refine.ranges import Range

    if problem := Range(0, math.inf).problem(tolerance, whole=False):
        raise ConfigError(f"tolerance {problem}", hint="1e-4 is the default")
    rows = compare(folder)
    print(f"{'head':<12} {'cases':>5} {'values':>9} {'largest difference':>19}")
    for row in rows:
        verdict = "OK" if row.within(tolerance) else "FAIL"
        print(f"{row.head:<12} {row.cases:>5} {row.values:>9} {row.largest:>19.2e}  {verdict}")
    written = decoding(folder)
    if written is not None:
        verdict = "OK" if written.first_difference is None else "FAIL"
        print(f"{'decoding':<12} {written.cases:>5} {written.same:>9} {'texts are the same':>19}  {verdict}")
        if written.first_difference is not None:
            theirs, ours = written.first_difference
            print(f"texts differ, first in:\n  fairseq  {theirs}\n  levt     {ours}", file=sys.stderr)
            sys.exit(1)
    if not all(row.within(tolerance) for row in rows):
        print(f"some differences are larger than {tolerance:g}", file=sys.stderr)
        sys.exit(1)
