"""Lines of text, corpora on disk, memory-mapped, and token-budget batches in a resumable order. Knows no network."""
