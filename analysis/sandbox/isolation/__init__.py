"""Jails: a program is started where it can do no harm. Knows nothing of tests."""
