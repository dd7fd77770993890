"""Repairs of bugs that are put into lines of real projects, whose own tests judge."""
