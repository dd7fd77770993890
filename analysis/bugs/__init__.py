"""Bugs put into right programs, to be found and repaired; each kind is a rule of `analysis.morphisms.rule` for each language."""
