"""Headers of functions, and the program that an answer makes below one: one file for each language."""
