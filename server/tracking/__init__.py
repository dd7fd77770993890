"""What becomes of suggestions in the editor, and the events that are logged of it. Never asks the model."""
