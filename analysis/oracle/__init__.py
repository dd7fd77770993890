"""Judge changed code of a Python project by the project's own pytest suite. Knows nothing of models."""
