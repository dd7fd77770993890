"""How good probabilities are, for a binary event: scores, bins, tests, and the intervals of them all."""
