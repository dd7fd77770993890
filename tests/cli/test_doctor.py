"""`assay doctor`: what it finds, and what it says when something is missing."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from house.running import assay, assay_here
from synthetic_samples import world

from assay.calibration.calibrator import save
from assay.calibration.fitting.fit import fit
from assay.calibration.log.event_log import EventLog
from assay.cli.doctor import Check, render
from assay.cli.terminal import Paint
from assay.inference.completion.settings import Settings
from assay.inference.opening import open_model

ROOT = Path(__file__).parents[2]


def examined(*arguments: str | Path, **environment: str) -> tuple[int, dict[str, dict[str, str | None]]]:
    run = assay if "PYTHONPATH" in environment else assay_here
    ran = run("doctor", "--json", *arguments, **environment)
    document = json.loads(ran.stdout)
    assert document["schema"] == "assay/doctor/1"
    return ran.returncode, {check["name"]: check for check in document["checks"]}


def calibrators(*arguments: str | Path, **environment: str) -> list[dict[str, str | None]]:
    document = json.loads(assay_here("doctor", "--json", *arguments, **environment).stdout)
    return [check for check in document["checks"] if check["name"] == "calibrator"]


@pytest.mark.slow
def test_a_machine_that_can_run_the_model_works(tiny_gguf: Path) -> None:
    code, checks = examined("--model", tiny_gguf)
    assert code == 0
    assert {"Python", "C++ compiler", "llama.cpp", "CPU features", "GPU offload", "model", "calibrator", "event log", "extra hf"} <= set(
        checks
    )
    assert checks["model"]["state"] == "ok"
    assert "tiny" in (checks["model"]["detail"] or "")
    assert checks["calibrator"]["state"] == "note"
    assert checks["calibrator"]["mend"] == f"assay calibrate model --model {tiny_gguf}"


@pytest.mark.slow
def test_the_log_of_events_is_named_with_its_size_and_what_is_wrong_with_it(tiny_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "events.sqlite3"

    def found() -> tuple[str | None, str]:
        check = examined("--model", tiny_gguf, ASSAY_DATA_HOME=str(tmp_path))[1]["event log"]
        return check["state"], check["detail"] or ""

    assert found() == ("note", f"none yet; the server will make {log}, unless assay.log.events is false")
    EventLog(log, create=True).close()
    assert found() == ("ok", f"0.0 MiB at {log} (see: assay logs summary)")
    log.write_text("something else\n" * 100)
    assert found() == ("note", f"can't be used: {log}: it is not a log of Assay, and is left alone")


@pytest.mark.slow
def test_a_calibrator_that_was_fitted_with_another_prompt_is_no_use_and_numbers_are_borrowed(tiny_gguf: Path, tmp_path: Path) -> None:
    with open_model(tiny_gguf) as model:
        model_id, prompt_id = model.fingerprint.id, Settings().fingerprint(model.layout, model.context_length)
    made = fit(world(300)[0], "exact_match", resamples=50).calibrator
    fitted = replace(made, fitted_on=replace(made.fitted_on, model=model_id, prompt=prompt_id))
    save(fitted, tmp_path / "calibrators" / "mine.json")
    check, *borrowed = calibrators("--model", tiny_gguf, ASSAY_DATA_HOME=str(tmp_path))
    assert check["state"] == "ok"
    assert f"line: {made.status} (user" in (check["detail"] or "")
    assert len([one for one in borrowed if ": borrowed from 5 models" in (one["detail"] or "")]) == 2
    save(replace(made, fitted_on=replace(made.fitted_on, model=model_id, prompt="0" * 16)), tmp_path / "calibrators" / "mine.json")
    other, *borrowed, last = calibrators("--model", tiny_gguf, "--threads", "1", ASSAY_DATA_HOME=str(tmp_path))
    assert "not used, because it was fitted with another prompt" in (other["detail"] or "")
    assert len([one for one in borrowed if ": borrowed from 5 models" in (one["detail"] or "")]) == 3
    assert last["detail"] == "all its numbers are borrowed"
    assert last["mend"] == f"assay calibrate model --model {tiny_gguf} --threads 1"
    assert other["state"] == last["state"] == "note"


@pytest.mark.slow
def test_a_model_that_can_not_be_read_is_missing_and_the_exit_code_says_so(tmp_path: Path) -> None:
    (tmp_path / "no.gguf").write_bytes(b"not a model")
    code, checks = examined("--model", tmp_path / "no.gguf")
    assert code == 1
    assert checks["model"]["state"] == "missing"
    assert str(tmp_path / "no.gguf") in (checks["model"]["detail"] or "")


@pytest.mark.slow
def test_a_missing_embedded_model_is_never_mended_from_a_registry_that_may_hold_another_assay(tmp_path: Path) -> None:
    package = tmp_path / "assay"
    for room in ("inference", "calibration", "cli"):
        shutil.copytree(ROOT / room, package / room, ignore=shutil.ignore_patterns("embedded", "__pycache__"))
    for module in ROOT.glob("*.py"):
        shutil.copy(module, package)
    code, checks = examined(PYTHONPATH=str(tmp_path))
    assert code == 1
    assert str(package) in (checks["model"]["detail"] or "")
    assert checks["model"]["mend"] is None
    (package / ".git").mkdir()
    assert examined(PYTHONPATH=str(tmp_path))[1]["model"]["mend"] == f"git -C {package} checkout -- inference/embedded"


def test_a_missing_runtime_comes_with_the_command_that_installs_it(tmp_path: Path) -> None:
    (tmp_path / "llama_cpp.py").write_text("raise ImportError('libllama.so: cannot open shared object file')\n", encoding="utf-8")
    code, checks = examined(PYTHONPATH=str(tmp_path))
    assert code == 1
    assert checks["llama.cpp"]["state"] == "missing"
    assert "-m pip install --force-reinstall --no-cache-dir" in (checks["llama.cpp"]["mend"] or "")
    assert checks["model"]["state"] == "missing"


def test_a_runtime_that_kills_its_process_does_not_kill_the_examination(tmp_path: Path) -> None:
    (tmp_path / "llama_cpp.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n", encoding="utf-8")
    code, checks = examined(PYTHONPATH=str(tmp_path))
    assert code == 1
    assert "built for another processor" in (checks["llama.cpp"]["detail"] or "")


@pytest.mark.slow
def test_an_editor_on_the_path_is_found_with_its_version(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "nvim").write_text(f"#!{shutil.which('sh')}\necho NVIM v0.12.1\necho Build type: Release\n", encoding="utf-8")
    (tmp_path / "nvim").chmod(0o755)
    _, checks = examined("--model", tiny_gguf, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert checks["Neovim"] == {"name": "Neovim", "state": "ok", "detail": f"NVIM v0.12.1 at {tmp_path / 'nvim'}", "mend": None}


@pytest.mark.slow
def test_without_a_compiler_it_says_how_to_get_one_and_works_all_the_same(tiny_gguf: Path, tmp_path: Path) -> None:
    code, checks = examined("--model", tiny_gguf, PATH=str(tmp_path), CXX="")
    assert code == 0
    assert checks["C++ compiler"]["state"] == "note"
    assert checks["C++ compiler"]["mend"]


def test_the_command_that_helps_stands_under_what_is_missing() -> None:
    lines = render([Check("Python", "ok", "3.12"), Check("model", "missing", "no file", "make demo")], Paint(colour=False)).split("\n")
    assert lines[:3] == ["✓ Python  3.12", "✗ model   no file", "          → make demo"]
    assert lines[-1] == "Assay does not work here yet. Missing: model."
