"""A pytest plugin that reports each test's outcome, CPU time and lines. Standard library and pytest only, Python 3.10+."""
