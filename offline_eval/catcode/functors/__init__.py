"""Translation, explanation and reproduction: programs, written by a model in another language, or again from its own words."""
