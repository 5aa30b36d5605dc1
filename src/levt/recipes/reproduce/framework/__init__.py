"""A chain of steps that is done once, whatever interrupts it, and says how it came about. Knows no model."""
