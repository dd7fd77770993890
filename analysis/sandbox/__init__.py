"""Untrusted programs, run where they can do no harm, under limits, with a result for everything that they may do."""
