"""Round trips of single lines: of what stood there, or of what the model suggests."""
