"""What the embedded model was trained on, which its card names."""

from __future__ import annotations

import tomllib
from pathlib import Path

from assay.offline_eval.sets.projects import measured_projects

TRAINING = Path(__file__).parents[2] / "training"


def test_no_package_of_the_corpus_is_held_out_and_each_is_pinned_and_permissive() -> None:
    packages = tomllib.loads((TRAINING / "corpus.toml").read_text(encoding="utf-8"))["package"]
    names = {package["name"] for package in packages}
    assert len(packages) > 100
    assert not names & {project.name for project in measured_projects()}
    assert not names & set(tomllib.loads((TRAINING / "held_out.toml").read_text(encoding="utf-8"))["names"])
    assert all(package["version"] and len(package["sha256"]) == 64 for package in packages)
    assert not [package["name"] for package in packages if "GPL" in package["licence"] or "MPL" in package["licence"]]
