"""A given text as a generation: what the model says of a text that it did not write, in the very figures of its own."""
