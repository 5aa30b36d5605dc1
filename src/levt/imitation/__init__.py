"""What models learn from: dual-policy learning (roll-in, expert, objective), and the lessons of the siblings.

Knows no optimiser and no decoding loop.
"""
