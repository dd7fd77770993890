from __future__ import annotations

import hashlib
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from source_distribution import FUNCTION

from assay.inference.completion.settings import Settings
from assay.inference.opening import ModelChoice, open_model
from assay.inference.project_memory import fitting
from assay.inference.project_memory.evidence import Evidence, feature_counts
from assay.inference.project_memory.fitting import Step
from assay.inference.project_memory.weights import SOURCES, read_weights
from assay.offline_eval.errors import StudyError, UsageError
from assay.offline_eval.memory_weights import fit
from assay.offline_eval.memory_weights import fit as projects
from assay.offline_eval.memory_weights.fit import Recorded, Recorder, check_enough, code_of, fit_to, fitted, listed_projects, table
from assay.offline_eval.progress import Progress
from assay.offline_eval.sets.lines import places_in
from assay.offline_eval.sets.projects import Project, ProjectError, measured_projects
from assay.suggestion.memory import memories
from assay.suggestion.memory.memories import memory_fingerprint, own_weights


def folders(root: Path, count: int) -> list[Path]:
    found = [root / f"p{number}" for number in range(count)]
    for number, folder in enumerate(found):
        folder.mkdir(parents=True)
        for half in (0, 3):
            functions = "".join(FUNCTION.format(n=n) for n in range(number + half, number + half + 3))
            (folder / f"area_{half}.py").write_text(functions)
    return found


def test_each_token_of_hidden_text_is_recorded_with_what_both_scopes_have_seen(tmp_path: Path, tiny_gguf: Path) -> None:
    code = code_of(folders(tmp_path, 1)[0])
    places = places_in(code.project, code.files, 6, 0)
    with open_model(tiny_gguf, threads=1) as model:
        recorded = Recorder(model, Settings()).record(code, places, Progress("places", None, None))
    assert recorded.places == len(places)
    hidden = sum(len("".join(place.text[min(gap.start for _, gap in place.gaps) :].splitlines(keepends=True)[:8])) for place in places)
    for steps in recorded.steps.values():
        assert hidden / 4 < len(steps) < 3 * hidden
        assert sum(step.evidence is not None for step in steps) > len(steps) / 2


@pytest.mark.slow
def test_fitted_weights_are_written_and_used_from_then_on_with_this_model(
    tmp_path: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(memories, "_read", memories._read.__wrapped__)  # as in a new process
    monkeypatch.setattr(fit, "MIN_PLACES", 9)
    monkeypatch.setattr(fitting, "_MAX_ITERATIONS", 25)
    found, path = fit_to(ModelChoice(str(tiny_gguf), {"threads": 1}), folders(tmp_path, 3), 4, None)
    with open_model(tiny_gguf, threads=1) as model:
        assert path == own_weights(model.fingerprint.id)
        assert memory_fingerprint(model, "file") == found.weights.version
    written = read_weights(path)
    assert (written.version, written.fitted_on["projects"]) == (found.weights.version, ["p0", "p1", "p2"])
    assert found.judged.mixed["file"].value < found.judged.alone.value
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_cannot_be_fitted_is_said_before_the_model_is_asked(tmp_path: Path, tiny_gguf: Path) -> None:
    choice, out = ModelChoice(str(tiny_gguf), {"threads": 1}), tmp_path / "weights.json"
    with pytest.raises(StudyError, match="places in 2 projects"):
        fit_to(choice, folders(tmp_path, 2), 4, out)
    with pytest.raises(UsageError, match="is a folder"):
        fit_to(choice, [tmp_path], 4, tmp_path)
    for folder in (many := folders(tmp_path / "more", 3)):
        (folder / "area_3.py").unlink()
    with pytest.raises(StudyError, match="0 places in 0 projects"):
        fit_to(choice, many, 4, out)
    assert not out.exists()


def test_what_is_stopped_leaves_nothing_and_says_so(
    tmp_path: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fit, "MIN_PLACES", 9)
    monkeypatch.setattr(Recorder, "record", stopped)
    out = tmp_path / "new" / "weights.json"
    with pytest.raises(KeyboardInterrupt):
        fit_to(ModelChoice(str(tiny_gguf), {"threads": 1}), folders(tmp_path, 3), 4, out)
    assert "Nothing was written." in capsys.readouterr().err
    assert not out.parent.exists()


REPOSITORY = Path(__file__).parents[3]


def test_nothing_is_measured_on_the_listed_projects_and_the_model_was_trained_on_them() -> None:
    listed = {project.name: project for project in listed_projects()}
    held_out = tomllib.loads((REPOSITORY / "training" / "held_out.toml").read_text())["names"]
    trained_on = {each["name"]: each for each in tomllib.loads((REPOSITORY / "training" / "corpus.toml").read_text())["package"]}
    assert len(listed) >= 20
    assert not listed.keys() & {project.name for project in measured_projects()}
    assert not listed.keys() & set(held_out)
    assert all((project.version, project.sha256) == (trained_on[name]["version"], trained_on[name]["sha256"])
               for name, project in listed.items())  # fmt: skip


def test_a_wheel_is_read_as_its_memory_reads_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "default_cache", lambda: tmp_path)
    wheel = tmp_path / "shapes-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {
            "shapes/area.py": "x = 1\n",
            "shapes/_vendor/six.py": "y = 1\n",
            "shapes/data.py": f"z = '{'0' * 9_000}'\n",
        }.items():
            archive.writestr(name, text)
    project = Project("shapes", "1.0", hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert [file.path for file in code_of(project).files] == ["shapes/area.py"]
    with pytest.raises(ProjectError, match="SHA-256"):
        code_of(Project("shapes", "1.0", "0" * 64))


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        code_of(tmp_path / "nowhere")


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "_MAX_ITERATIONS", 25)


def recorded(seed: int, *, telling: bool = True) -> Recorded:
    """Tokens that came as the first feature says, or as nothing does."""
    random = np.random.default_rng(seed)
    steps: dict[str, list[Step]] = {}
    for scope, sources in SOURCES.items():
        of_candidate, of_state = feature_counts(sources)
        steps[scope] = []
        for _ in range(100):
            features = random.normal(size=(of_candidate, 4)).astype(np.float32)
            event = int(features[0].argmax()) if telling else int(random.integers(4))
            state = random.normal(size=of_state).astype(np.float32)
            logprobs = np.full(4, np.log(0.25), np.float32)
            steps[scope].append(Step(event, np.log(0.25), Evidence(np.arange(4), logprobs, features, state)))
    return Recorded(f"p{seed}", 100, {scope: steps[scope] for scope in SOURCES})


def test_weights_are_judged_on_projects_that_they_were_not_fitted_on() -> None:
    found = fitted([recorded(seed) for seed in range(3)], "0" * 16)
    alone = found.judged.alone
    assert alone.value == pytest.approx(np.log(4))
    for scope in SOURCES:
        mixed, less = found.judged.mixed[scope], found.judged.less[scope]
        assert less.value == pytest.approx(alone.value - mixed.value)
        assert 0 < less.low < less.value < less.high
    assert found.weights.fitted_on["tokens"] == 300
    assert "n = 300 tokens of 300 places in 3 projects" in table(found)


def test_a_memory_that_says_nothing_of_other_projects_is_refused() -> None:
    with pytest.raises(StudyError, match="less likely: nothing is written"):
        fitted([recorded(seed, telling=False) for seed in range(3)], "0" * 16)


def test_too_few_projects_or_places_are_refused_with_their_number() -> None:
    check_enough([40, 30, 30])
    for few in ([400, 400], [30, 30, 30]):
        with pytest.raises(StudyError, match=f"{sum(few)} places in {len(few)} projects"):
            check_enough(few)
