"""The runtimes of this machine that run programs of other languages: a JDK, Node.js."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..isolation.jail import Mount


class MissingRuntime(Exception):
    """There is nothing that can run programs of a language; the message says how to get it."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A runtime: its main program."""

    program: Path

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The mounts that it needs where it lies outside of the system's folders."""
        home = self.program.parent.parent
        return () if home.is_relative_to("/usr") or home == Path("/") else (Mount(home, home),)


def said_by(name: str, *options: str, language: str, how: str) -> tuple[str, subprocess.CompletedProcess[str]]:
    """The path of a runtime's program, and what it says of itself. Raises MissingRuntime."""
    found = shutil.which(name)
    if found is None:
        raise MissingRuntime(f"There is no {name} here, which runs {language} programs: {how}.")
    said = subprocess.run([found, *options], capture_output=True, text=True, timeout=60, check=False)
    if said.returncode != 0:
        raise MissingRuntime(f"{found} does not run: {said.stderr.strip() or f'status {said.returncode}'}. Instead, {how}.")
    return found, said
