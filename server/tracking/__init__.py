"""What became of suggestions in the editor, and the events that are logged of it. Asks no model and hides no suggestion."""
