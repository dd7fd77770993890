"""Weights fitted to a model: what is recorded, written, and then used."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_distribution import FUNCTION

from assay.inference.completion.settings import Settings
from assay.inference.opening import ModelChoice, open_model
from assay.inference.project_memory import fitting
from assay.inference.project_memory.weights import read_weights
from assay.offline_eval.errors import StudyError, UsageError
from assay.offline_eval.memory_weights import fit
from assay.offline_eval.memory_weights.fit import fit_to
from assay.offline_eval.memory_weights.recording import Recorder, code_of
from assay.offline_eval.progress import Progress
from assay.offline_eval.sets.lines import places_in
from assay.suggestion.memory import weights
from assay.suggestion.memory.memories import memory_fingerprint
from assay.suggestion.memory.weights import own_weights


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
    monkeypatch.setattr(weights, "_read", weights._read.__wrapped__)  # as in a new process
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
