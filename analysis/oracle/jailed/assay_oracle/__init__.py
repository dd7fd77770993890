"""A pytest plugin that reports each test's outcome, CPU time and the lines it touches; standard library and pytest only, Python 3.10+."""
