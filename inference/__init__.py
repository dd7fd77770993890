"""A model: prompt in, tokens with log-probabilities out."""
