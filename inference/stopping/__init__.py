"""Where a generation ends: pure rules on the text so far. Knows no backend."""
