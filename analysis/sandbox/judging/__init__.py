"""Run a trusted test against an untrusted program, each in a jail of its own. Knows nothing of models or studies."""
