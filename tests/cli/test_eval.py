"""`assay eval` as a user runs it: what it prints, and what it says of bad input."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from house.running import assay
from msgspec import structs
from source_distribution import make_sdist
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.calibration.metrics.bins import wilson
from assay.calibration.samples import Sample, read_samples
from assay.cli.eval import eval_report, rate, study
from assay.inference.opening import ModelChoice
from assay.offline_eval.run import GENERATIONS, LABELS, SCHEMA, Run, RunError

from ..inference.completion_server import Speech, serving

ASKED = {"schema": SCHEMA, "model": "0" * 16, "model_name": "tiny", "prompt": "0" * 16, "seed": 0}


def generation(number: int, *, project: str = "p", text: str = "x", truth: str = "x", **changed: Any) -> dict[str, Any]:
    base = {"task": "line", "project": project, "file": "f.py", "text": text, "truth": truth, "measures": {"total_logprob": -1.0}}
    return {"id": f"{project}:{number}", **base, **changed}


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run.begin(tmp_path / "run", ASKED)
    run.append(GENERATIONS, [generation(1), generation(2, text="y"), generation(3, project="q"), generation(4, text=" ")])
    run.append(LABELS, [{"id": "p:1", "exact_match": True}, {"id": "p:2", "exact_match": False}, {"id": "p:4", "exact_match": False}])
    return run


def test_a_study_makes_every_generation_once_and_asked_again_makes_none(tmp_path: Path, tiny_gguf: Path) -> None:
    cache = tmp_path / "cache"
    projects = [make_sdist(cache, name, functions=3) for name in ("one", "two")]
    for _ in range(2):
        run = study(tmp_path / "run", projects, ModelChoice(str(tiny_gguf)), 2, ["line", "line_rest"], 0, 1, cache)
        assert len(list(run.records(GENERATIONS))) == len(list(run.records(LABELS))) == 8
    assert run.asked()["projects"] == ["one 1.0", "two 1.0"]
    with pytest.raises(RunError, match="asked something else"):
        study(tmp_path / "run", projects[:1], ModelChoice(str(tiny_gguf)), 2, ["line"], 0, 1, cache)


@pytest.mark.parametrize(("reflective", "alternatives"), [(False, 1), (True, 1), (False, 3)])
def test_the_documented_fields_of_a_run_are_the_ones_that_are_written(
    tmp_path: Path, tiny_gguf: Path, reflective: bool, alternatives: int
) -> None:
    projects = [make_sdist(tmp_path, functions=1)]
    run = study(tmp_path / "run", projects, ModelChoice(str(tiny_gguf)), 1, ["line"], 0, 1, tmp_path, reflective, alternatives)
    made, *others = run.records(GENERATIONS)
    assert all(other.keys() == made.keys() - {"ranks"} for other in others)
    left_out = [
        f"only with `{option}`" for option, asked in (("--reflective", reflective), ("--alternatives", alternatives > 1)) if not asked
    ]
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    for file, fields in (("run.toml", run.asked().keys()), (GENERATIONS, made.keys())):
        table = text.split(f"| field of `{file}` |")[1].split("\n\n")[0].splitlines()[2:]
        rows = [row.split("|") for row in table if not any(words in row for words in left_out)]
        assert {name for row in rows for name in re.findall(r"`(\w+)`", row[1])} == set(fields)
    (timings,) = (line for line in text.splitlines() if line.startswith("| `timings` |"))
    assert set(re.findall(r"`(\w+)`", timings)[1:]) == set(made["timings"]) | {"questions_ms"}
    assert ("questions_ms" in made["timings"]) == reflective


@pytest.fixture
def roomy_gguf(tmp_path: Path) -> Path:
    """A tiny model whose context holds a question behind the prompt."""
    return write_tiny_gguf(tmp_path / "roomy.gguf", TinyModel(context_length=2048))


def test_what_the_model_says_of_its_own_is_in_the_samples_and_asked_once(
    tmp_path: Path, roomy_gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    projects = [make_sdist(tmp_path / "cache", functions=3)]

    def again(reflective: bool) -> Run:
        return study(
            tmp_path / "run", projects, ModelChoice(str(roomy_gguf)), 3, ["line", "line_rest"], 0, 1, tmp_path / "cache", reflective
        )

    run = again(reflective=True)
    before = (run.folder / GENERATIONS).read_bytes()
    # Another kill: all but one generation are lost, and only they are made again.
    (run.folder / GENERATIONS).write_bytes(before[: before.index(b"\n") + 1])
    (run.folder / LABELS).unlink()
    again(reflective=True)
    after = (run.folder / GENERATIONS).read_bytes()
    assert after.startswith(before[: before.index(b"\n") + 1])
    assert len(after.splitlines()) == len(before.splitlines()) == 6
    questions = dict(question.split() for question in run.asked()["questions"])
    assert questions.keys() == {"ask_true", "ask_true_normalised", "verbalised"}
    assert eval_report(run.folder) == 0
    found = read_samples(sorted((run.folder / "samples").iterdir()))
    stand_ins = sum(bool(sample.fallbacks) for sample in found)
    said = capsys.readouterr().err
    assert f"ask_true: {len(found)} of {len(found)} samples have it\n" in said
    assert f"verbalised: {len(found)} of {len(found)} samples have it, in {stand_ins} of them a stand-in\n" in said
    for sample in found:
        assert sample.asked == questions
        assert sample.measures.keys() >= questions.keys()
        assert sample.fallbacks == (("verbalised",) if sample.measures["verbalised"] == 0.5 else ())
    with pytest.raises(RunError, match="asked something else"):
        again(reflective=False)


def test_asking_a_model_changes_nothing_of_what_it_writes(tmp_path: Path, roomy_gguf: Path) -> None:
    projects = [make_sdist(tmp_path / "cache", functions=4)]
    runs = [
        study(tmp_path / f"run{asked}", projects, ModelChoice(str(roomy_gguf)), 4, ["line_rest"], 0, 1, tmp_path / "cache", asked)
        for asked in (False, True)
    ]
    plain, reflective = (list(run.records(GENERATIONS)) for run in runs)
    assert [made["text"] for made in plain] == [made["text"] for made in reflective]
    for one, other in zip(plain, reflective, strict=True):
        assert {name: other["measures"][name] for name in one["measures"]} == pytest.approx(one["measures"], abs=5e-3)


def test_alternatives_are_recorded_with_their_rank_and_their_agreement(
    tmp_path: Path, tiny_gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    projects = [make_sdist(tmp_path / "cache", functions=6)]
    plain, several = (
        study(
            tmp_path / f"run{count}",
            projects,
            ModelChoice(str(tiny_gguf)),
            6,
            ["line", "line_rest"],
            0,
            1,
            tmp_path / "cache",
            False,
            count,
        )
        for count in (1, 4)
    )
    assert (plain.asked().get("alternatives"), several.asked()["alternatives"]) == (None, 4)
    first = {made["id"]: made["text"] for made in plain.records(GENERATIONS)}
    assert {made["id"]: made["text"] for made in several.records(GENERATIONS) if made["rank"] == 1} == first
    assert eval_report(several.folder) == 0
    found = read_samples(sorted((several.folder / "samples").iterdir()))
    assert {sample.alternatives for sample in found} == {4}
    by_gap: dict[str, list[Sample]] = {}
    for sample in found:
        by_gap.setdefault(sample.id if sample.rank == 1 else sample.id.removesuffix(f":{sample.rank}"), []).append(sample)
    # A gap whose first choice has no text is one where nothing is shown.
    assert by_gap.keys() == {name for name, text in first.items() if text.strip()}
    assert max(map(len, by_gap.values())) > 1
    blank = {made["id"] for made in several.records(GENERATIONS) if not made["text"].strip()}
    for gap, samples in by_gap.items():
        assert len({sample.text_sha256 for sample in samples}) == len(samples)
        shares = math.fsum(math.exp(sample.measures["agreement"]) for sample in samples)
        assert shares == pytest.approx(1) if not any(name.startswith(gap) for name in blank) else shares < 1
    capsys.readouterr()


def test_a_run_with_alternatives_goes_on_where_any_of_them_is_lost_and_is_not_one_without(tmp_path: Path, tiny_gguf: Path) -> None:
    cache = tmp_path / "cache"
    projects = [make_sdist(cache, functions=5)]

    def again(alternatives: int) -> Run:
        return study(tmp_path / "run", projects, ModelChoice(str(tiny_gguf)), 5, ["line_rest"], 0, 1, cache, False, alternatives)

    run = again(3)
    made = (run.folder / GENERATIONS).read_bytes().splitlines(keepends=True)
    text_and_id = sorted((record["id"], record["text"]) for record in run.records(GENERATIONS))
    second = next(number for number, record in enumerate(run.records(GENERATIONS)) if record["rank"] > 1)
    for lost in (0, second, len(made) - 1):
        (run.folder / GENERATIONS).write_bytes(b"".join(made[:lost] + made[lost + 1 :]))
        again(3)
        assert sorted((record["id"], record["text"]) for record in run.records(GENERATIONS)) == text_and_id
        assert {record["id"] for record in run.records(LABELS)} == {name for name, _ in text_and_id}
    with pytest.raises(RunError, match="asked something else"):
        again(1)


def test_a_model_that_can_not_be_asked_is_said_to_be_one(tmp_path: Path) -> None:
    with serving(Speech(kind="openai")) as address, pytest.raises(ValueError, match="leave --reflective out"):
        study(tmp_path / "run", [], ModelChoice(address), 1, ["line"], 0, 1, tmp_path, reflective=True)
    assert not (tmp_path / "run").exists()


def test_a_generation_without_a_label_is_unknown_and_not_counted_as_wrong(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert eval_report(run.folder, as_json=True) == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert document["exact_match"]["line"] == {
        "n": 2,
        "projects": 1,
        "value": 0.5,
        "low": pytest.approx(0.0945, abs=1e-4),
        "high": pytest.approx(0.9055, abs=1e-4),
    }
    assert {s.id: s.labels["exact_match"] for s in read_samples([Path(p) for p in document["samples"]])} == {
        "p:1": True,
        "p:2": False,
        "q:3": None,
    }
    assert "1 of 4 generations had no text" in said.err
    assert "1 have no label yet" in said.err


def test_with_fewer_than_five_projects_the_rate_has_wilsons_interval_and_with_more_one_of_projects(run: Run) -> None:
    run.append(LABELS, [{"id": "q:3", "exact_match": True}])
    assert eval_report(run.folder) == 0
    samples = read_samples(run.folder / "samples" / "line.jsonl")
    row = rate(samples)
    assert (row["n"], row["projects"]) == (3, 2)
    assert row["value"] == pytest.approx(2 / 3)
    assert (row["low"], row["high"]) == pytest.approx(wilson(2, 3))
    # five projects that are all alike in themselves: the interval is of projects, wider than of their samples
    many = [structs.replace(samples[0], project=f"p{i % 5}", labels={"exact_match": i % 5 < 2}) for i in range(500)]
    low, high = rate(many)["low"], rate(many)["high"]
    assert high - low > 3 * (wilson(200, 500)[1] - wilson(200, 500)[0])
    assert rate([]) == {"n": 0, "projects": 0, "value": None, "low": None, "high": None}


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--projects", "flask,no-such,other"], 2, "no such project in the list: no-such, other. It has: arrow, attrs"),
        (["--tasks", "line,word"], 2, "no such task: word (there are line, line_rest, line_middle)"),
        (["--model", "no-such.gguf"], 2, "no-such.gguf"),
        (["--model", "notes.txt"], 2, "not a GGUF"),
        (["--per-project", "0"], 2, "not a whole number of at least 1"),
        (["--seed", "first"], 2, "invalid int value"),
        (["--model", "TINY", "--out", "notes.txt"], 2, "notes.txt is not a folder; name another"),
        (["--model", "TINY", "--shift", "64"], 2, "with --shift log-probabilities are approximate"),
        (["--model", "TINY", "--out", "."], 2, "is not empty and not a run"),
        (["--model", "TINY", "--out", "notes.txt/run"], 1, "notes.txt/run/run.toml: Not a directory"),
        (["--model", "TINY", "--cache", "notes.txt/cache"], 1, "notes.txt"),
    ],
)
def test_what_a_study_can_not_be_run_with_is_said_in_one_line(
    tmp_path: Path, tiny_gguf: Path, options: list[str], code: int, message: str
) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    given = [str(tiny_gguf) if option == "TINY" else option for option in options]
    ran = assay("eval", "calibration", "--out", "run", *given, cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("run.toml", b"model = ", "run.toml: not TOML"),
        ("run.toml", b"\xff", "run.toml: not TOML"),
        ("run.toml", b'schema = "assay/run/2"\n', "the schema is 'assay/run/2', this version of Assay reads 'assay/run/1'"),
        ("run.toml", b'schema = "assay/run/1"\nmodel = "x"\n', "run.toml: missing: model_name, prompt, seed"),
        (GENERATIONS, b'{"id": "p:1"}\n', "generations.jsonl:1: 'task' is missing or not a text"),
        (GENERATIONS, b"[1]\n", "generations.jsonl:1: 'id' is missing"),
        (GENERATIONS, b"\xff\n", "generations.jsonl:1: not JSON"),
        (GENERATIONS, b"[" * 100_000 + b"\n", "generations.jsonl:1: not JSON"),
        (
            GENERATIONS,
            json.dumps(generation(1, measures={"total_logprob": "low"})).encode() + b"\n",
            "total_logprob must be a finite number",
        ),
        (GENERATIONS, line(generation(1, asked={"verbalised": "x"})), "asked names 'verbalised', which is none of the sample's measures"),
        (GENERATIONS, line(generation(1, fallbacks=3)), "fallbacks must be a list of measures, not 3"),
        (LABELS, b'{"id": "p:1", "exact_match": 1}\n', "the label exact_match must be true, false or null"),
        (LABELS, b'{"exact_match": true}\n', "labels.jsonl:1: 'id' is missing"),
    ],
)
def test_a_damaged_run_is_refused_with_file_and_reason(
    run: Run, capsys: pytest.CaptureFixture[str], file: str, content: bytes, message: str
) -> None:
    (run.folder / file).write_bytes(content)
    assert eval_report(run.folder) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.startswith("assay: ")
    assert said.out == ""


def test_a_report_on_what_is_not_a_run_ends_with_2(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        ran = assay("eval", "report", folder)
        assert ran.returncode == 2
        assert "is not a run: it has no run.toml" in ran.stderr
        assert ran.stderr.count("\n") == 1
