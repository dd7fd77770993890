"""Read Python source: statements, lines, regions, bodies, docstrings. Runs none of it."""
