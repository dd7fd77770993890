"""The log of events: what was suggested in an editor and what became of it. It knows no server, and holds code only on request."""
