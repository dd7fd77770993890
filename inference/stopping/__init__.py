"""Where a generation ends: rules on the text so far, the caller, the clock. Knows no backend."""
