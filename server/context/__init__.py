"""Pieces of other open files for the prompt. Asks no model."""
