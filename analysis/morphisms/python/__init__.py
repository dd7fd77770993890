"""The morphisms for Python, one file each; what "equivalent" covers is in docs/morphisms.md."""
