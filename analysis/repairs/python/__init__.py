"""The rules for Python, one file each."""
