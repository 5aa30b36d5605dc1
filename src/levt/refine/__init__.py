"""The loop of Algorithm 2, its stops and its steering, beam search for the siblings. Knows no learning."""
