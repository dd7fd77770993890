"""How a study fails. The command line turns each of these into an exit code."""

from __future__ import annotations


class UsageError(ValueError):
    """The study can't be run as it was asked for; the message says why."""


class StudyError(Exception):
    """The work failed; the message says how, and what to do."""


class RunError(Exception):
    """A run folder that can't be used; the message says which, why, and what to do."""
