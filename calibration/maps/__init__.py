"""Maps from measures to log odds of an event, one file each with its fit; registry.py names them all. They know no samples and no files."""
