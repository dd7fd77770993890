"""Python source as text: statements, lines, regions, bodies, docstrings. Runs nothing."""
