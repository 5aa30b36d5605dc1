"""Steps that reproductions share: prepare, train, distil, tune, decode, score, time. Knows no table of the paper."""
