"""What can be known of a Python program from its text: positions, scopes, exact types, and the effects of expressions."""
