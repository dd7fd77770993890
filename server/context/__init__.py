"""What other files add to the prompt, and which files no model is shown."""
