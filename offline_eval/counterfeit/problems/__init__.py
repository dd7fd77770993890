"""Counterfeits among programs for benchmark problems: drawn from a model, or recorded, and judged, executed and repaired by one."""
