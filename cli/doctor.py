"""`assay doctor`: what works on this machine, what is missing, and the command that helps."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from .. import __version__
from ..calibration.control_characters import escaped_line
from .exit_codes import DONE, FAILED
from .options import Subparsers, command_parser, model_choice, set_run
from .terminal import Paint, Style, print_json, show, wants_colour

if TYPE_CHECKING:
    from ..calibration.registry import Entry, Registry
    from ..inference.completion.settings import Settings
    from ..inference.model import Model
    from ..inference.opening import ModelChoice

State = Literal["ok", "note", "missing"]
SCHEMA = "assay/doctor/1"

_HERE = Path(__file__).parents[1]

_MARKS: dict[State, tuple[str, Style]] = {"ok": ("✓", "green"), "note": ("·", "yellow"), "missing": ("✗", "red")}
_EDITORS = {"code": "VS Code", "codium": "VSCodium", "code-server": "code-server", "nvim": "Neovim", "emacs": "Emacs", "hx": "Helix"}
_PIP = f"{shlex.quote(sys.executable)} -m pip install"
_REBUILD = f"{_PIP} --force-reinstall --no-cache-dir --no-deps 'llama-cpp-python>=0.3.36,<0.4'"
# In a process of its own: a build for another processor dies of SIGILL, and that must not end the doctor.
_ASK_LLAMA = """
import json, llama_cpp
print(json.dumps([llama_cpp.__version__, llama_cpp.llama_print_system_info().decode(), bool(llama_cpp.llama_supports_gpu_offload())]))
"""


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    state: missing if Assay does not work without it, note if it does. mend: the command that helps.
    """

    name: str
    state: State
    detail: str
    mend: str | None = None


def register(commands: Subparsers) -> None:
    """Add `assay doctor`."""
    parser = command_parser(commands, "doctor", "check what works on this machine, and say how to install what is missing")
    set_run(parser, run, "model", "json")


def run(arguments: argparse.Namespace) -> int:
    """Examine this machine and print the checks. FAILED if something is missing that Assay needs."""
    checks = examine(model_choice(arguments))
    works = all(check.state != "missing" for check in checks)
    if arguments.json:
        print_json({"schema": SCHEMA, "version": __version__, "works": works, "checks": [asdict(check) for check in checks]})
    else:
        show(*render(checks, Paint(wants_colour(sys.stdout))).split("\n"))
    return DONE if works else FAILED


def examine(choice: ModelChoice) -> list[Check]:
    """Every check, in the order of their dependencies."""
    runtime = list(_runtime())
    works = runtime[0].state == "ok"
    return [_python(), _compiler(), *runtime, *_model_and_calibrators(choice, works), _event_log(), *_editors(), *_sandbox(), *_extras()]


def render(checks: list[Check], paint: Paint) -> str:
    """The checks for people: one line each, and under it the command that helps."""
    widest = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        mark, style = _MARKS[check.state]
        lines.append(f"{paint(mark, style)} {check.name:<{widest}}  {escaped_line(check.detail)}")
        if check.mend:
            lines.append(f"  {'':<{widest}}  {paint('→ ' + check.mend, 'bold')}")
    missing = [check.name for check in checks if check.state == "missing"]
    lines += ["", f"Assay does not work here yet. Missing: {', '.join(missing)}." if missing else "Assay works here."]
    return "\n".join(lines)


def _python() -> Check:
    import platform

    text = f"{platform.python_version()} at {sys.executable}, Assay {__version__}"
    return Check("Python", "ok", text)


def _compiler() -> Check:
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        if name and (path := shutil.which(name)):
            return Check("C++ compiler", "ok", f"{_first_line([path, '--version']) or name} at {path}")
    mend = "xcode-select --install" if sys.platform == "darwin" else "sudo apt install build-essential   (Fedora: sudo dnf install gcc-c++)"
    return Check("C++ compiler", "note", "none found; only needed to build llama.cpp again", mend)


def _runtime() -> Iterator[Check]:
    import subprocess

    if importlib.util.find_spec("llama_cpp") is None:
        yield Check("llama.cpp", "missing", "llama-cpp-python is not installed", f"{_PIP} 'llama-cpp-python>=0.3.36,<0.4'")
        return
    try:
        answer = subprocess.run([sys.executable, "-P", "-c", _ASK_LLAMA], capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        yield Check("llama.cpp", "missing", "llama-cpp-python did not answer within 2 minutes", _REBUILD)
        return
    if answer.returncode != 0:
        why = (answer.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        if answer.returncode < 0:
            why = f"its process died of signal {-answer.returncode}: it may have been built for another processor"
        yield Check("llama.cpp", "missing", f"llama-cpp-python can't be used: {why}", _REBUILD)
        return
    version, system, offloads = json.loads(answer.stdout.splitlines()[-1])
    yield Check("llama.cpp", "ok", f"llama-cpp-python {version}")
    yield Check("CPU features", "ok", features(system))
    gpu = _gpu()
    if offloads:
        yield Check("GPU offload", "ok", f"llama.cpp was built for a GPU{f' ({gpu})' if gpu else ''}")
    elif gpu:
        yield Check(
            "GPU offload",
            "note",
            f"{gpu} found, but llama.cpp was built for the CPU only",
            f'CMAKE_ARGS="-DLLAVA_BUILD=OFF -DGGML_CUDA=on" {_REBUILD}',
        )
    else:
        yield Check("GPU offload", "ok", "no GPU found; llama.cpp runs on the CPU")


def features(system: str) -> str:
    """The features that llama.cpp's system information says are on, in its order.

    >>> features("CPU : SSE3 = 1 | F16C = 0 | AVX2 = 1 |")
    'SSE3, AVX2'
    """
    parts = [part.rsplit(":", 1)[-1].split("=") for part in system.split("|") if "=" in part]
    on = [name.strip() for name, value in parts if value.strip() == "1"]
    return ", ".join(on) or "none beyond the basic ones"


def _gpu() -> str | None:
    import platform

    if sys.platform == "darwin" and platform.machine() == "arm64":
        return "Apple GPU"
    tool = shutil.which("nvidia-smi")
    return _first_line([tool, "--query-gpu=name", "--format=csv,noheader"]) if tool else None


def _model_and_calibrators(choice: ModelChoice, runtime_works: bool) -> Iterator[Check]:
    from ..calibration.found_models import entries_of
    from ..calibration.project_folder import project_of
    from ..calibration.registry import load_registry
    from ..inference.backends import LLAMA_CPP
    from ..inference.errors import ModelError

    if not runtime_works and choice.backend is LLAMA_CPP:
        yield Check("model", "missing", "can't be opened without llama.cpp")
        return
    try:
        model = choice.open()
    except ModelError as error:
        # Never `pip install assay`: a registry may hold something else of that name.
        checkout = choice.where is None and (_HERE / ".git").exists()
        mend = f"git -C {shlex.quote(str(_HERE))} checkout -- inference/embedded" if checkout else None
        yield Check("model", "missing", str(error), mend)
        return
    registry = load_registry(project_of(Path.cwd()))
    with model:
        fingerprint = model.fingerprint
        fitting = entries_of(registry, fingerprint.id, fingerprint.kin)
        prompts = _prompts(
            model, choice.settings_for(model), {language for entry in fitting for language in entry.calibrator.fitted_on.languages}
        )
    size = f"{fingerprint.parameters / 1e6:,.1f} M parameters, {fingerprint.quantisation}"
    yield Check("model", "ok", f"{fingerprint.name} ({choice.where or 'embedded'}), {size}, fingerprint {fingerprint.id}")
    yield from _calibrators(registry, fitting, prompts, choice)


def _prompts(model: Model, settings: Settings, languages: Set[str]) -> Set[str]:
    """The fingerprints of all prompts and decoders in use: for suggestions, and for repairs and faults in the languages."""
    from ..inference.completion.task import Kind
    from ..suggestion.memory.memories import memory_fingerprint
    from ..suggestion.memory.scope import SCOPES
    from ..suggestion.repair.asking import Asking
    from ..suggestion.repair.confidence import purpose_of
    from ..suggestion.repair.request import request_for

    memories = [memory_fingerprint(model, scope) for scope in SCOPES]
    requests = [request_for(Asking(model, settings), "x\n", 0, 1, language=language) for language in languages]
    return {
        settings.fingerprint(model.layout, model.context_length, kind, heals=model.capabilities.heals, memory=memory)
        for kind in get_args(Kind)
        for memory in memories
    } | {purpose_of(request, "exact_match", memory=memory).prompt for request in requests for memory in memories}


def _calibrators(registry: Registry, fitting: Sequence[Entry], prompts: Set[str], choice: ModelChoice) -> Iterator[Check]:
    from ..calibration.effective_status import effective_status
    from ..calibration.found_models import next_step

    usable = [entry for entry in fitting if entry.calibrator.fitted_on.models or entry.calibrator.fitted_on.prompt in prompts]
    used_for = {(entry.calibrator.event, entry.calibrator.task) for entry in usable}
    rest = [entry for entry in registry.entries if entry.calibrator.fitted_on.models and entry not in fitting]
    usable += (borrowed := [entry for entry in rest if (entry.calibrator.event, entry.calibrator.task) not in used_for])
    for entry in (*fitting, *borrowed):
        calibrator, effective = entry.calibrator, effective_status(entry)
        state: State = "ok" if entry in usable and effective.has_numbers else "note"
        status = effective.status if entry in usable else "not used, because it was fitted with another prompt, decoder or context"
        several = "" if calibrator.fitted_on.alternatives == 1 else f", one of {calibrator.fitted_on.alternatives} alternatives"
        lent = f" {effective.reason}" if effective.status == "borrowed" and entry in usable else ""
        yield Check(
            "calibrator", state, f"{calibrator.event} of {calibrator.task}{several}: {status}{lent} ({entry.origin}, {calibrator.id})"
        )
    if not usable:
        others = f" ({len(registry.entries)} for other models)" if registry.entries and not fitting else ""
        found = f"none{' of these is used' if fitting else f' for this model{others}'}, so suggestions have no number"
        yield Check("calibrator", "note", found, next_step((), choice.arguments).command)
    elif all(effective_status(entry).status == "borrowed" for entry in usable):
        yield Check("calibrator", "note", "all its numbers are borrowed", next_step((), choice.arguments).command)
    for reason in registry.skipped:
        yield Check("calibrator", "note", f"skipped: {reason}")


def _event_log() -> Check:
    from ..calibration.log.event_log import EventLog, EventLogError, default_path

    path = default_path()
    if not path.exists():
        found = f"none yet; the server will make {path}, unless assay.log.events is false"
        return Check("event log", "note", found)
    try:
        with EventLog(path) as log:
            return Check("event log", "ok", f"{log.size / 2**20:.1f} MiB at {path} (see: assay logs summary)")
    except EventLogError as error:
        return Check("event log", "note", f"can't be used: {error}", "set assay.log.path to another file")


def _editors() -> Iterator[Check]:
    found = [(title, path) for name, title in _EDITORS.items() if (path := shutil.which(name))]
    for title, path in found:
        yield Check(title, "ok", f"{_first_line([path, '--version']) or 'version unknown'} at {path}")
    if not found:
        yield Check(
            "editors",
            "note",
            f"none of {', '.join(_EDITORS)} is on the PATH; any editor with LSP can start: assay serve",
        )


def _sandbox() -> Iterator[Check]:
    """The sandbox for programs of `calibrate repo` and the studies."""
    from ..analysis.sandbox.isolation.best_level import NoIsolation, best_level

    try:
        level = best_level()
    except NoIsolation as error:
        yield Check("sandbox", "note", "untrusted programs can't be isolated here", str(error))
    else:
        weaker, mend = ("", None) if level == "bubblewrap" else ("; bubblewrap isolates more", "sudo apt install bubblewrap")
        yield Check("sandbox", "ok" if mend is None else "note", f"untrusted programs are isolated with {level}{weaker}", mend)
    for name, command in (("Java", "javac"), ("JavaScript", "node")):
        if path := shutil.which(command):
            yield Check(f"{name} programs", "ok", f"{_first_line([path, '--version']) or 'version unknown'} at {path}")
        else:
            mend = f"sudo apt install {'default-jdk-headless' if command == 'javac' else 'nodejs'}"
            yield Check(f"{name} programs", "note", f"no {command} on the PATH: studies can't run {name}", mend)


_EXTRAS = (
    ("hf", ("torch", "transformers")),
    ("remote", ("httpx",)),
    ("studies", ("matplotlib", "rouge-score", "sacrebleu", "scikit-learn")),
    ("ray", ("ray",)),
)


def _extras() -> Iterator[Check]:
    for name, distributions in _EXTRAS:
        versions = {distribution: _version(distribution) for distribution in distributions}
        lacking = [distribution for distribution, version in versions.items() if version is None]
        if lacking:
            yield Check(f"extra {name}", "note", f"not installed: {', '.join(lacking)}", f"{_PIP} {' '.join(lacking)}")
        else:
            yield Check(f"extra {name}", "ok", ", ".join(f"{distribution} {version}" for distribution, version in versions.items()))


def _version(distribution: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _first_line(command: list[str]) -> str | None:
    import subprocess

    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=10, check=False, stdin=subprocess.DEVNULL, env=_without_colour()
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = answer.stdout.strip().splitlines()
    return lines[0].strip() if answer.returncode == 0 and lines else None


def _without_colour() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1"}
