"""Dual-policy learning: roll-in, expert and objective. Knows no optimiser and no decoding loop."""
