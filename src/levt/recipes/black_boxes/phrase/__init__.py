"""A phrase-based translation system in numpy: alignments, phrase table, language model, stack decoder.

The kind of system that drafts came from before neural networks, compact and quick to train on a CPU. Knows
no network and no post-editing. Logarithms are natural everywhere.
"""
