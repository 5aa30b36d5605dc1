"""The loop: optimiser, schedule, precision, data parallel, checkpoints, logs. Knows no particular experiment."""
