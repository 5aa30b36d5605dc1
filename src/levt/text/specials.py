"""The five special symbols, the same in every vocabulary. Knows no tokenizer."""

PAD, BOS, EOS, UNK, PLH = range(5)
"""Ids of the padding, the two boundaries, the unknown piece and the placeholder."""

SPECIALS = ("<pad>", "<s>", "</s>", "<unk>", "<plh>")
"""Their written forms, in id order."""
