"""The log of events: what was suggested in an editor and what became of it. Holds no code unless the user asked for it."""
