"""Start a program in a jail, where it can do no harm. Knows nothing of tests."""
