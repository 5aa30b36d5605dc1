"""The environment: states, the edits that change them, the oracle that knows the best ones, traces. Knows no network.

Legend of shapes, the same everywhere in levt:

    b  batch                        n  state, with <s> and </s>     k  counts, 0 … K_max
    s  source                       g  gaps of the state, n-1       v  vocabulary
    m  state after insertion        t  target                       d  width     h  heads
"""
