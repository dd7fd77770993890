from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_samples import sample, world

from assay.calibration.samples import SCHEMA, Sample, SampleError, read_samples, samples_sha256, write_samples

hex16 = st.text("0123456789abcdef", min_size=16, max_size=16)
texts = st.text(st.characters(), max_size=12)
samples = st.builds(
    Sample,
    id=st.text(st.characters(), min_size=1, max_size=12),
    model=hex16,
    prompt=hex16,
    task=texts,
    language=texts,
    project=texts,
    file=texts,
    seed=st.integers(-(2**63), 2**63),
    measures=st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False), max_size=4),
    labels=st.dictionaries(st.sampled_from(["exact_match", "tests_pass", "kept"]), st.sampled_from([True, False, None])),
    text_sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
    model_name=texts,
)


@given(made=st.lists(samples, max_size=5, unique_by=lambda s: s.id))
def test_what_is_written_is_read_again_whatever_the_texts_hold(tmp_path_factory: pytest.TempPathFactory, made: list[Sample]) -> None:
    path = tmp_path_factory.mktemp("samples") / "s.jsonl"
    write_samples(path, made)
    assert read_samples(path) == made


def line(**changes: Any) -> str:
    made = sample()
    fields = {"schema": SCHEMA} | {name: getattr(made, name) for name in Sample.__struct_fields__} | changes
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


BAD = {
    "not JSON": ('{"schema": ', "not JSON"),
    "an array": ("[]", "a sample is a JSON object"),
    "empty": ("", "an empty line"),
    "too deep": ("[" * 100_000, "nested too deep"),
    "another schema": (line(schema="assay/sample/2"), "the schema is 'assay/sample/2'"),
    "missing": (line(text_sha256=...), "missing: text_sha256"),
    "unknown": (line(colour="red"), "unknown field: colour"),
    "no id": (line(id=""), "id is empty"),
    "a number as a text": (line(project=3), "project must be a string, not 3"),
    "not a fingerprint": (line(model="gpt"), "model must be 16 lower-case hex digits, not 'gpt'"),
    "not a hash": (line(text_sha256="0"), "text_sha256 must be 64"),
    "a broken seed": (line(seed=1.5), "seed must be an integer"),
    "a truth as a seed": (line(seed=True), "seed must be an integer"),
    "NaN": (line(measures={"total_logprob": float("nan")}), "NaN is not a number"),
    "infinity": (line(measures={"total_logprob": float("-inf")}), "-Infinity is not a number"),
    "an overflow": (line(measures={"m": 12345.0}).replace("12345.0", "1e999"), "the measure m must be a finite number"),
    "an overflowing integer": (line(measures={"m": 77}).replace("77", "9" * 400), "the measure m is too large"),
    "a text as a measure": (line(measures={"m": "1"}), "the measure m must be a finite number, not '1'"),
    "a truth as a measure": (line(measures={"m": True}), "the measure m must be a finite number"),
    "a number as a label": (line(labels={"exact_match": 1}), "the label exact_match must be true, false or null, not 1"),
    "an unknown event": (line(labels={"correct": True}), "unknown event 'correct'"),
    "no labels": (line(labels=[]), "labels must be an object"),
}


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD.keys())
def test_an_unreadable_line_is_refused_with_file_line_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line(id="first") + "\n" + text + "\n")
    with pytest.raises(SampleError) as refused:
        read_samples(path)
    assert str(refused.value).startswith(f"{path}:2: ")
    assert reason in str(refused.value)


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(line(project="é").replace("\\u00e9", "é").encode("latin-1"))
    with pytest.raises(SampleError, match=r"latin.jsonl:1: not UTF-8"):
        read_samples(path)


def test_an_id_may_be_used_once_in_all_files_together(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write_samples(one, [sample(1), sample(2)])
    write_samples(two, [sample(3), sample(2)])
    with pytest.raises(SampleError, match=r"two.jsonl:2: the id 's2' was used before, at .*one.jsonl:2"):
        read_samples([one, two])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match=r"none.jsonl: can't be read: No such file"):
        read_samples(tmp_path / "none.jsonl")


def test_a_sample_that_could_not_be_read_is_not_written_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write_samples(path, [sample(1)])
    before = path.read_bytes()
    with pytest.raises(SampleError, match="must be a finite number, not nan"):
        write_samples(path, [sample(2), sample(3, total_logprob=float("nan"))])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_hash_of_samples_does_not_depend_on_their_order_but_on_every_label() -> None:
    a, b = sample(1), sample(2)
    assert samples_sha256([a, b]) == samples_sha256([b, a])
    assert samples_sha256([a, b]) != samples_sha256([a, sample(2, label=None)])


def test_an_integer_measure_is_read_as_a_float(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(line(measures={"token_count": 9}))
    assert type(read_samples(path)[0].measures["token_count"]) is float


def test_twenty_thousand_samples_are_read_in_a_few_seconds(tmp_path: Path) -> None:
    made, _ = world(20_000)
    write_samples(tmp_path / "s.jsonl", made)
    began = time.process_time()
    assert len(read_samples(tmp_path / "s.jsonl")) == 20_000
    assert time.process_time() - began < 5
