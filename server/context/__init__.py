"""Pieces of other open files for the prompt, and which files no model may see. Asks no model."""
