"""Calibrators in use, and what editors ask about them: why, the dial, drift. Never asks the model."""
