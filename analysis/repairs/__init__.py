"""Repairs without a model: each kind of bug of `analysis/bugs` run backwards, at one place of a program."""
