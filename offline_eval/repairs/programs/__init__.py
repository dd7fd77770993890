"""Repairs of small programs with one bug each."""
