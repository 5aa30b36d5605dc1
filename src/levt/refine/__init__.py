"""The loop of Algorithm 2, its stops and its steering, and how the siblings decode. Knows no learning."""
