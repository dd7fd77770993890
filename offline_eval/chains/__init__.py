"""Chains of model steps over code with tests: what round trips and CatCode's translation and reproduction have in common."""
