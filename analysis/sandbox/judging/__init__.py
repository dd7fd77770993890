"""Verdicts: a trusted test against an untrusted program, each in a jail of its own."""
