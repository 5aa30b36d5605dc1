"""How good a text is and how fast it came: scores with signatures, counters, times, tables, plots. Knows no training.

Its packages (sacrebleu, rouge-score, matplotlib) are the extra ``eval``, imported only where they are used.
"""
