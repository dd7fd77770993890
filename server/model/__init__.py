"""The model's process and the way to it. Knows no documents and no calibrators."""
