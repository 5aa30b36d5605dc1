"""Tokens and back: normalisation, the tokenizer, the special symbols. Knows no tensor and no file layout."""
