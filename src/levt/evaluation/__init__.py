"""How good a text is: scores with their signatures, counters, tables and plots. Knows no model and no training.

Its packages (sacrebleu, rouge-score, matplotlib) are the extra ``eval``, imported only where they are used.
"""
