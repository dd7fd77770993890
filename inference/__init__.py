"""A model: prompt in, tokens with log-probabilities out. Knows nothing of editors, calibration or studies."""
