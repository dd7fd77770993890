"""The house stands as the design says: imports run downward, every package is listed, and no file names what is private to a machine."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = {"inference": 0, "analysis": 0, "calibration": 1, "suggestion": 2, "server": 3, "offline_eval": 3, "cli": 4}
TOP = 5
ROOT_MODULES = sorted(ROOT.glob("*.py"))
NOT_SHIPPED = {"tests", "training", "benchmarks", "examples", "docs", "editors", "build", "dist"}
GENERATED = {".git", ".venv", ".cache", ".hypothesis", "build", "dist", "__pycache__", "node_modules"}


def product_files() -> Iterator[Path]:
    yield from ROOT_MODULES
    for package in FLOORS:
        yield from sorted((ROOT / package).rglob("*.py"))


def room_of(path: Path) -> str:
    """The first part of a module's place in the package: a folder's name, or a root module's own."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


def rooms_imported(path: Path, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line of every relative import in a module and the room it leads to."""
    folder = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            depth = len(folder) - (node.level - 1)
            assert depth >= 0, f"{path.relative_to(ROOT)}:{node.lineno} imports from outside the package"
            base = [*folder[:depth], *(node.module.split(".") if node.module else [])]
            for target in [base[0]] if base else [alias.name for alias in node.names]:
                yield node.lineno, target


def floor_of(room: str) -> int:
    return FLOORS.get(room, TOP)


def wrong_imports(path: Path) -> Iterator[str]:
    """Each import of a module that runs upward, leads nowhere or is not relative."""
    tree, room = ast.parse(path.read_text(encoding="utf-8")), room_of(path)
    for line, target in rooms_imported(path, tree):
        where = f"{path.relative_to(ROOT)}:{line}"
        if room in FLOORS and target not in (room, "__version__") and floor_of(target) >= FLOORS[room]:
            yield f"{where}: {room} may not import {target}"
        if room not in FLOORS and target not in FLOORS and not (ROOT / f"{target}.py").exists() and target != "__version__":
            yield f"{where}: no such room: {target}"
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        yield from (
            f"{path.relative_to(ROOT)}:{node.lineno}: import {name} relatively"  # type: ignore[attr-defined]
            for name in names
            if name.split(".")[0] in {"assay", *FLOORS}
        )


def test_imports_run_downward_and_are_relative() -> None:
    wrong = [each for path in product_files() for each in wrong_imports(path)]
    assert not wrong, "\n".join(wrong)


def modules_imported(path: Path) -> Iterator[Path]:
    """The files of the package that a module imports, for types alone or inside a function as well."""
    folder = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ROOT.joinpath(*folder[: len(folder) - (node.level - 1)], *(node.module.split(".") if node.module else []))
            names = (base / alias.name for alias in node.names)
            for module in (base, *names):
                if module.with_suffix(".py").is_file():
                    yield module.with_suffix(".py")


def test_no_file_imports_itself_by_way_of_others() -> None:
    sorter = TopologicalSorter({path: set(modules_imported(path)) for path in product_files()})
    try:
        sorter.prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(str(path.relative_to(ROOT)) for path in error.args[1]))


@pytest.mark.parametrize(
    ("room", "modules"),
    [
        *((room, False) for room in ("analysis", "calibration", "inference", "offline_eval")),
        ("cli", True),
        ("server", True),
        ("suggestion", True),
    ],
)
def test_what_stands_side_by_side_imports_one_another_one_way(room: str, modules: bool) -> None:
    """modules: those beside the folders, too, such as the one that puts the server together."""
    for parent in [ROOT / room, *(path for path in (ROOT / room).rglob("*") if path.is_dir())]:
        sorter = TopologicalSorter[str]()
        for path in parent.rglob("*.py"):
            of, *rest = path.relative_to(parent).parts
            theirs = [module.relative_to(parent).parts for module in modules_imported(path) if parent in module.parents]
            sorter.add(of, *(other for other, *below in theirs if other != of and (modules or (rest and below))))
        try:
            sorter.prepare()
        except CycleError as error:
            pytest.fail(f"{parent.relative_to(ROOT)}: {' -> '.join(error.args[1])}")


def test_the_rule_sees_an_import_that_runs_upward() -> None:
    tree = ast.parse("from ..server.engine import suggest_at\nfrom .. import offline_eval\nfrom .samples import read\n")
    assert [target for _, target in rooms_imported(ROOT / "calibration" / "bands.py", tree)] == ["server", "offline_eval", "calibration"]
    assert floor_of("server") > floor_of("calibration")


def test_every_folder_that_is_a_package_is_listed_in_pyproject_and_exists() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"])
    found = {"assay"}
    for init in ROOT.rglob("__init__.py"):
        parts = init.parent.relative_to(ROOT).parts
        if parts and parts[0] not in NOT_SHIPPED and not parts[0].startswith("."):
            found.add(".".join(("assay", *parts)))
    assert listed == found


def test_every_room_and_root_module_is_type_checked() -> None:
    mypy = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert set(mypy["packages"]) == {f"assay.{room}" for room in (*FLOORS, "training")}
    assert set(mypy["modules"]) == {f"assay.{path.stem}" for path in ROOT_MODULES if path.stem != "__init__"} | {"assay.docs.formats"}


PRIVATE = [
    re.compile(pattern)
    for pattern in (
        r"(?<!file://)/(?:work|root|opt)/\w",
        r"(?<!file://)/home/\w",
        r"\.\./shared\b",
        "py" + r"pi\.org",
        "python" + r"hosted\.org",
        "registry" + r"\.npmjs",
        "hugging" + r"face\.co",
        "crates" + r"\.io",
    )
]


def test_no_file_names_a_private_path_or_a_registrys_host() -> None:
    found = []
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if not path.is_file() or path.is_symlink() or GENERATED & set(parts) or parts[0].endswith("_cache") or path == Path(__file__):
            continue
        if parts[0] == ".typing" or path.stat().st_size > 2_000_000 or b"\0" in (content := path.read_bytes())[:1000]:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
            found += [f"{path.relative_to(ROOT)}:{number}: {match[0]}" for pattern in PRIVATE if (match := pattern.search(line))]
    assert not found, "\n".join(found)


def test_what_answers_in_the_editor_loads_no_library_that_only_a_fit_or_a_plot_needs() -> None:
    asked = (
        "import sys, assay.server.model.live, assay.cli.complete; from assay.calibration.registry import load_registry;"
        "from assay.calibration.confidence import confidence;"
        "confidence(load_registry().entries[0].calibrator, {'total_logprob': -2.0});"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'scipy', 'matplotlib', 'sklearn', 'pandas'}))"
    )
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60).stdout.strip() == "[]"
