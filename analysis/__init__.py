"""Analysis of programs: read them, rewrite them, break them, run them in a sandbox. Knows nothing of models."""
