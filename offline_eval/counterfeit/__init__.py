"""The study of counterfeits: texts that a model sampled itself, that look right, and are wrong."""
