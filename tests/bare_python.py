"""A Python that has pytest and nothing else: the plugins of the one that runs these tests take seconds to start."""

from __future__ import annotations

import sys
import venv
from importlib.metadata import distribution
from pathlib import Path


def make_bare_python(folder: Path) -> Path:
    """The interpreter of a new environment with links to this one's pytest."""
    folder.chmod(0o755)  # as root, jailed programs run as another user
    venv.create(folder, symlinks=True, with_pip=False)
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        for file in distribution(name).files or ():
            if (top := file.parts[0]) not in ("..", "__pycache__") and not (packages / top).is_symlink():
                (packages / top).symlink_to(Path(str(distribution(name).locate_file(top))).resolve())
    return folder / "bin" / "python"
