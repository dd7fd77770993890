"""Bugs put into right programs, to be found and repaired; each kind is a morphism that changes what a program does."""
