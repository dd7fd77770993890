"""What decides where programs keep their files: the home folder, the environment and the system."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

System = Literal["linux", "macos", "windows"]


@dataclass(frozen=True, slots=True)
class Machine:
    """A user's home on a system, with the variables of the environment."""

    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    system: System = "linux"

    def variable(self, name: str) -> Path | None:
        """The folder that a variable of the environment names, or None. A "~" at its beginning is the home."""
        value = self.environ.get(name, "").strip().strip("\"'")
        if value == "~" or value.startswith(("~/", "~\\")):
            return self.home / value[2:]
        return Path(value) if value else None

    @property
    def caches(self) -> Path:
        """The system's folder for caches of the user."""
        if self.system == "windows":
            return self._local
        return self.home / "Library/Caches" if self.system == "macos" else self.variable("XDG_CACHE_HOME") or self.home / ".cache"

    @property
    def local_data(self) -> Path:
        """The system's folder for data of the user's programs, that of this machine alone where a system has two."""
        if self.system == "windows":
            return self._local
        return self._support if self.system == "macos" else self.variable("XDG_DATA_HOME") or self.home / ".local/share"

    @property
    def roaming_data(self) -> Path:
        """The system's folder for settings and data of the user's programs, that which follows the user where a system has two."""
        if self.system == "windows":
            return self.variable("APPDATA") or self.home / "AppData/Roaming"
        return self._support if self.system == "macos" else self.variable("XDG_CONFIG_HOME") or self.home / ".config"

    @property
    def _local(self) -> Path:
        return self.variable("LOCALAPPDATA") or self.home / "AppData/Local"

    @property
    def _support(self) -> Path:
        return self.home / "Library/Application Support"


def this_machine() -> Machine:
    """The machine and the user of this process."""
    system: System = "windows" if os.name == "nt" else "macos" if sys.platform == "darwin" else "linux"
    return Machine(Path.home(), os.environ, system)


def each_once(folders: Iterable[Path]) -> list[Path]:
    """The folders without repetitions, in order."""
    return list(dict.fromkeys(folders))
