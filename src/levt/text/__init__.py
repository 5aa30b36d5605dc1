"""Tokens and back: normalisation, sentences, the tokenizer, the special symbols. Knows no tensor and no file layout."""
