"""Source distributions for tests."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

from assay.offline_eval.sets.projects import Project

FUNCTION = '''
def area_{n}(width, height):
    """Area of a rectangle.

    Both in metres.
    """
    if width < 0 or height < 0:
        raise ValueError("negative side", {n})
    result = width * height
    return result
'''


def make_sdist(cache: Path, name: str = "shapes", functions: int = 6) -> Project:
    """A source distribution as pip would have left it in the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / f"{name}-1.0.tar.gz"
    body = "".join(FUNCTION.format(n=n) for n in range(functions))
    files = {f"{name}-1.0/{name}/area.py": body, f"{name}-1.0/tests/test_area.py": body, f"{name}-1.0/{name}/py2.py": "print 'old'\n"}
    with tarfile.open(path, "w:gz") as t:
        for file, text in files.items():
            info = tarfile.TarInfo(file)
            info.size = len(text.encode())
            t.addfile(info, io.BytesIO(text.encode()))
    return Project(name, "1.0", hashlib.sha256(path.read_bytes()).hexdigest())
