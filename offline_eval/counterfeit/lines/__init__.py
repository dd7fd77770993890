"""Counterfeits among lines of real projects, whose own tests judge."""
