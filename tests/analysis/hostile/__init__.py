"""Hostile programs, and the scene that shows from outside what they did."""

from __future__ import annotations

from . import forged_channels, forged_endings, forged_lives, forged_messages, forged_values, harm_files, harm_network, harm_resources
from .program import Hostile

HARM: tuple[Hostile, ...] = (*harm_files.PROGRAMS, *harm_network.PROGRAMS, *harm_resources.PROGRAMS)
FORGERIES: tuple[Hostile, ...] = tuple(
    program for table in (forged_endings, forged_values, forged_channels, forged_messages, forged_lives) for program in table.PROGRAMS
)
