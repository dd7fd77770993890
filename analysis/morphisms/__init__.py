"""Rewrites of programs that keep what they do, or change it: the local morphisms of CatCode (arXiv 2403.01784, section 3.2)."""
