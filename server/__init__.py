"""The language server: answers one editor, and logs what became of suggestions. Knows nothing of studies and of the command line."""
