"""How a suggestion is cut: `steps` is the list, and each step is a file of its own. Knows no model, no editor and no calibrator."""
