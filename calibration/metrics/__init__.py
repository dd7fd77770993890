"""How good probabilities of a binary event are: scores, bins, tests and intervals. They know arrays only, no samples and no calibrator."""
