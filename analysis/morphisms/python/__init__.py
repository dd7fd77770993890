"""The rules for Python; preconditions stand in each module's docstring, what "equivalent" covers in docs/morphisms.md."""
