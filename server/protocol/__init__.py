"""Messages of the Language Server Protocol, in and out. Knows nothing of suggestions."""
