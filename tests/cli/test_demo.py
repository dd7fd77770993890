"""`assay demo` on a real, tiny model, and what it shows of a suggestion."""

import json
import math
import random
import re
from pathlib import Path

import pytest
from house.running import assay_here
from msgspec.structs import replace
from synthetic_samples import sample

from assay.calibration.samples import write_samples
from assay.cli.demo import Place, PlaceResult, load_places, render_summary, summarise
from assay.cli.terminal import Paint
from assay.inference.completion.settings import Settings
from assay.inference.llamacpp.threads import ThreadsInUse
from assay.inference.opening import open_model
from assay.suggestion.memory.memories import memory_fingerprint

pytestmark = pytest.mark.slow

ESCAPE = re.compile("\x1b\\[[0-9;]*m")
PLACE = Place("a.py", 4, "line", "the end of a line", "import a\n\ndef f(x):\n    y = ", "x + 1", ")\n    return y\n\n\nf(1)\n")


@pytest.fixture(scope="module")
def document(tiny_gguf: Path) -> dict:
    ran = assay_here("demo", "--json", "--model", tiny_gguf)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_every_place_is_completed_and_counted(document: dict) -> None:
    places = load_places()
    assert [(p["file"], p["line"], p["author"]) for p in document["places"]] == [(p.file, p.line, p.cut) for p in places]
    assert document["summary"]["places"] == len(places)
    assert document["summary"]["suggested"] == sum(p["suggestion"] is not None for p in document["places"])
    assert document["summary"]["first_suggestion_ms"] > document["summary"]["opened_ms"] > 0
    for place, told in zip(places, document["places"], strict=True):
        line = (place.prefix + place.cut).split("\n")[place.line - 1]
        assert line[told["column"] - 1 :] == place.cut.split("\n")[0]


def test_a_model_without_a_calibrator_of_its_own_borrows_its_numbers(document: dict) -> None:
    assert {calibrator["status"] for calibrator in document["calibrators"]} == {"borrowed"}
    assert document["summary"]["with_probability"] > 0
    statuses = {p["kind"]: p["suggestion"]["confidence"]["status"] for p in document["places"] if p["suggestion"]}
    assert statuses == {"line": "borrowed", "block": "uncalibrated"}, "blocks have no number"


def fitted_calibrator(tiny_gguf: Path, folder: Path) -> Path:
    """A data folder with a calibrator for the tiny model, made by `assay calibrate fit` from samples of which the truth is known."""
    with open_model(tiny_gguf) as model:
        memory = memory_fingerprint(model, "project")
        model_id, prompt_id = model.fingerprint.id, Settings().fingerprint(model.layout, model.context_length, memory=memory)
    rng = random.Random(5)
    samples = []
    for number in range(600):
        total = -150 * rng.random() - 1e-3
        exact = rng.random() < 1 / (1 + math.exp(-(total + 60) / 10))
        made = sample(number, label=exact, project=f"p{number % 12}", file=f"f{number % 60}.py", total_logprob=total)
        samples.append(replace(made, model=model_id, prompt=prompt_id, task="line_rest"))
    write_samples(folder / "samples.jsonl", samples)
    out = folder / "calibrators" / "tiny.json"
    ran = assay_here("calibrate", "fit", folder / "samples.jsonl", "--event", "exact_match", "--out", out)
    assert ran.returncode == 0, ran.stderr
    return folder


def test_with_a_calibrator_it_shows_a_band_a_range_and_the_evidence(tiny_gguf: Path, tmp_path: Path) -> None:
    folder = fitted_calibrator(tiny_gguf, tmp_path)
    shown = assay_here("demo", "--model", tiny_gguf, ASSAY_DATA_HOME=str(folder)).stdout
    assert re.search(r"[◆◈◇] (likely|possible|unlikely) \d+-\d+ % exact match", shown)
    assert re.search(r"The probabilities promised \d+\.\d of \d+ exact matches; it was 0\.", shown)
    (evidence,) = re.findall(r"Evidence for line_rest \(informative\): (.*)", shown)
    assert re.match(r"600 lines of 12 projects, \d\d% exact; held out, skill 0\.\d\d \[0\.\d\d, 0\.\d\d\], ECE 0\.\d{3} \(noise", evidence)


def test_piped_it_has_no_colour_and_forced_it_says_the_same_in_colour(tiny_gguf: Path) -> None:
    plain = assay_here("demo", "--model", tiny_gguf, "--threads", "1").stdout
    coloured = assay_here("demo", "--model", tiny_gguf, "--threads", "1", FORCE_COLOR="1").stdout
    assert "\x1b" not in plain
    assert "«" in plain
    assert "\x1b[3;36m" in coloured
    speeds = re.compile(r"\d[\d,.]* (?:ms|tokens/s|of them)")
    assert speeds.sub("", ESCAPE.sub("", coloured)) == speeds.sub("", plain.replace("«", "").replace("»", ""))
    assert re.search(r"Evidence for line_rest \(borrowed\): [\d,]+ lines of 5 models, ", plain)


@pytest.mark.parametrize(
    ("threads", "said"),
    [
        (ThreadsInUse(1, 2, 2, 1.4), "1.4 other tasks wanted to run, and the model wrote on 1 of 2 cores"),
        (ThreadsInUse(2, 2, 2, 2.0), None),
        (None, None),
    ],
)
def test_the_last_lines_say_if_the_machine_was_busy(threads: ThreadsInUse | None, said: str | None) -> None:
    shown = render_summary(summarise([PlaceResult(PLACE, None, False, 1.0)], 2.0, threads), [], Paint(colour=False))
    assert ("The machine was busy" in shown) == (said is not None)
    assert said is None or said in shown


def test_the_summary_counts_what_the_author_wrote() -> None:
    results = [PlaceResult(PLACE, None, False, 10.0), PlaceResult(PLACE, None, False, 30.0)]
    text = render_summary(summarise(results, 100.0), [], Paint(colour=False))
    assert text.startswith("0 of 2 places")
    assert "20 ms for a suggestion; 110 ms to the first suggestion, 100 of them to open the model." in text
