"""The wheel, installed where the checkout can't be seen, has everything that the product needs and nothing else."""

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".cache", ".*_cache", ".hypothesis", "build", "dist", "*.egg-info", "__pycache__", "node_modules"
)

IMPORT_EVERYTHING = """
import importlib, json, pkgutil, assay
names = [module.name for module in pkgutil.walk_packages(assay.__path__, "assay.")]
for name in names:
    importlib.import_module(name)
print(json.dumps({"names": names, "where": assay.__file__}))
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the tree, so that nothing left over from an earlier build can get into it."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "tree", symlinks=True, ignore=LEFT_OUT)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(folder / "tree")]
    built = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def clean_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel in it; the dependencies are seen, the checkout is not."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=300)
    (site,) = folder.glob("lib/python*/site-packages")
    # A plain directory on the path: the .pth files in it, the editable install's among them, are not read.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(python), *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=python.parent)


def test_every_module_of_the_checkout_is_imported_from_the_wheel(clean_python: Path) -> None:
    ran = run(clean_python, "-c", IMPORT_EVERYTHING)
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    assert Path(report["where"]).is_relative_to(clean_python.parents[1])
    expected = {"assay." + path.stem for path in ROOT.glob("*.py") if path.stem != "__init__"}
    for package in ("inference", "analysis", "calibration", "suggestion", "server", "offline_eval", "cli"):
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            expected.add(".".join(("assay", *parts)).removesuffix(".__init__"))
    assert set(report["names"]) == expected


def test_the_wheel_holds_the_data_and_none_of_the_workshop(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, pattern in (
        ("examples", "*.py"),
        ("examples", "*.toml"),
        ("inference/embedded", "*"),
        ("inference/hub", "*.toml"),
        ("calibration/shipped", "*.json"),
        ("calibration/shipped", "folds/*.json"),
        ("calibration/shipped/validation", "*.json"),
        ("offline_eval/sets", "*.toml"),
        ("analysis/sandbox/judging", "jvm/*.java"),
        ("analysis/sandbox/judging", "node/*.js"),
    ):
        for path in (ROOT / folder).glob(pattern):
            assert f"assay/{path.relative_to(ROOT)}" in names
    assert "assay/inference/embedded/assay.gguf" in names
    assert any(name.startswith("assay/calibration/shipped/") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    tops = {name.split("/")[1] for name in names if name.startswith("assay/")}
    assert not tops & {"tests", "training", "benchmarks", "docs", "editors", ".ci"}
    assert {name.split("/")[0] for name in names} == {"assay", next(name.split("/")[0] for name in names if ".dist-info" in name)}


def test_the_installed_program_says_its_version_and_examines_itself(clean_python: Path) -> None:
    program = str(clean_python.parent / "assay")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert version.stdout.startswith("assay ")
    doctor = subprocess.run([program, "doctor", "--json"], capture_output=True, text=True, timeout=120, check=False)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    assert json.loads(doctor.stdout)["checks"]
