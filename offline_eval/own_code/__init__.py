"""Numbers for a model from code on this machine: the user's own, and a small set of public code that is shipped."""
