"""Repairs without a model: each kind of bug of `analysis/bugs.py` run backwards, at one place of a program."""
