"""The kinds of bug for Python, one file each."""
