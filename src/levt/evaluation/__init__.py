"""Metrics, each number with its signature; tables and plots. Knows no training."""
