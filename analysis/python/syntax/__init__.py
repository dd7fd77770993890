"""What can be known of a Python program from its text alone: spans, scopes, types that are certain, what an expression may do."""
