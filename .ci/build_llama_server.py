"""Build llama-server and llama-bench from the llama.cpp that the installed llama-cpp-python was built from.

    python .ci/build_llama_server.py [--jobs N] [--sdist llama_cpp_python-….tar.gz] [--again]

pip fetches the source distribution, which has llama.cpp in it, from its cache where possible; --sdist needs no network. The two programs go
into the user's cache, where tests/llama_server.py finds them. Nothing is done where they exist. It takes about 20 minutes of one CPU core.
CMAKE_ARGS of the environment is passed on as pip does, e.g. CMAKE_ARGS=-DGGML_CUDA=ON; --again builds with other arguments.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from llama_server import built_folder  # noqa: E402

from assay.offline_eval.sets.projects import unpack_tar  # noqa: E402

PROGRAMS = ("llama-server", "llama-bench")
OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DGGML_NATIVE=ON",
    # Without TLS, a web page and what else a server on the loopback has no use for: nothing is fetched while it is built.
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    # Not for AMX, of which such programs die (ggml-org/llama.cpp, pull request 26954, open); only compilers for x86 know the flags.
    *(f"-DCMAKE_{language}_FLAGS=-mno-amx-tile -mno-amx-int8 -mno-amx-bf16" for language in ("C", "CXX") if platform.machine() == "x86_64"),
)


def fetch(folder: Path) -> Path:
    """The source distribution, fetched by pip."""
    name = f"llama-cpp-python=={version('llama-cpp-python')}"
    command = ["download", "--quiet", "--no-deps", "--no-binary", "llama-cpp-python", "--dest", str(folder), name]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    (sdist,) = folder.glob("llama_cpp_python-*.tar.gz")
    return sdist


def build(sdist: Path, work: Path, jobs: int) -> None:
    """Build the programs in a folder, and put them into place."""
    unpack_tar(sdist, work)
    (source,) = work.glob("*/vendor/llama.cpp")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    given = shlex.split(os.environ.get("CMAKE_ARGS", ""))
    subprocess.run(["cmake", *generator, "-S", str(source), "-B", str(work / "build"), *OPTIONS, *given], check=True)
    subprocess.run(["cmake", "--build", str(work / "build"), "--parallel", str(jobs), "--target", *PROGRAMS], check=True)
    place(work / "build" / "bin")


def place(binaries: Path) -> None:
    """Move the programs into place at once, so that an interrupted build leaves nothing that looks finished."""
    folder = built_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        whole = Path(beside) / folder.name
        whole.mkdir()
        for program in PROGRAMS:
            shutil.copy2(binaries / program, whole)
        shutil.rmtree(folder, ignore_errors=True)
        whole.rename(folder)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Build llama-server and llama-bench into the user's cache.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once (default: %(default)s)")
    parser.add_argument("--sdist", type=Path, help="a source distribution of llama-cpp-python that is already here")
    parser.add_argument("--again", action="store_true", help="build even where the programs are there")
    arguments = parser.parse_args()
    if not arguments.again and all((built_folder() / program).is_file() for program in PROGRAMS):
        print(f"There already: {built_folder()}")
        return
    if arguments.sdist and not arguments.sdist.is_file():
        parser.error(f"{arguments.sdist}: no such file")
    if not shutil.which("cmake"):
        sys.exit(f"cmake is missing. Install it with: {sys.executable} -m pip install cmake ninja")
    with tempfile.TemporaryDirectory(prefix="llama-server-") as work:
        build(arguments.sdist or fetch(Path(work)), Path(work), arguments.jobs)
    print(f"Built: {built_folder()}")


if __name__ == "__main__":
    main()
