"""Morphisms: rewrites that keep what a program does, or change it (CatCode, arXiv 2403.01784, section 3.2). Runs no program."""
