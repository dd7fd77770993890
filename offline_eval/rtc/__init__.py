"""Round-trip correctness: a model describes code and rebuilds it from the description (Allamanis et al. 2024)."""
