"""What the user's own files say comes next: an index of words, and its mixture with a model's distribution. Knows no backend, no editor."""
