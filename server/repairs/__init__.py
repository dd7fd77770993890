"""Repairs in the editor: which lines, what is found for them, how it is worded and put in. The model's process finds it."""
