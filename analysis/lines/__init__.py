"""Lines of code to complete, in any language that has a parser here."""
