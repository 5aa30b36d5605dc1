"""The loop of Algorithm 2, its stops and its steering, and beam search for the siblings. Knows not how policies are learnt."""
