"""The door for a study: its folder has a command and what the driver is given, and the registry has its line."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

import pytest

from assay import offline_eval
from assay.offline_eval.registry import STUDIES, commands, study_of
from assay.offline_eval.run import SCHEMA, Run


def test_every_folder_of_a_study_is_registered_and_stands_on_the_command_line() -> None:
    folders = {path.parent.name for path in Path(str(offline_eval.__file__)).parent.glob("*/command.py")}
    assert {module.partition(".")[0] for module in STUDIES.values()} == folders
    found = [command for group in ("eval", "calibrate") for command in commands(group)]
    assert {(command.group, command.name) for command in found} == {
        ("eval", "all"),
        ("eval", "calibration"),
        ("eval", "catcode"),
        ("eval", "counterfeit"),
        ("eval", "repairs"),
        ("eval", "rtc"),
        ("calibrate", "model"),
        ("calibrate", "repo"),
    }
    for command in found:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        assert "--out" in parser.format_help()


@pytest.mark.parametrize(("name", "module"), STUDIES.items())
def test_a_run_finds_its_study_by_the_name_that_it_was_begun_with(tmp_path: Path, name: str, module: str) -> None:
    question = {"schema": SCHEMA, "study": name, "model": "m", "model_name": "", "prompt": "p", "seed": 0}
    study = study_of(Run.begin(tmp_path / "run", question))
    assert study is import_module(f"assay.offline_eval.{module}").STUDY
    assert study.name == name
