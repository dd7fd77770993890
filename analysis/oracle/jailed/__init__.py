"""Copied into the jail, where it runs on the project's interpreter, which has pytest and not Assay."""
