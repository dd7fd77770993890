"""Whether a text leaves the code around the cursor whole: read by parsers, in each language that has one. Knows no model and no editor."""
