"""Assay: local code completion that says how likely each suggestion is to be right."""

__version__ = "0.1.0"
