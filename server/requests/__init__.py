"""One request for suggestions, from the question to its one outcome: refused, debounced, shown or hidden. Knows no wire format."""
