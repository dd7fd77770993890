"""A Python project's own pytest suite as an oracle for changed code."""
