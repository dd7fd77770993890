"""The kinds of bug for Python."""
