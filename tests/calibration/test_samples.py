from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from synthetic_samples import sample

from assay.calibration.samples import SCHEMA, Sample, SampleError, place_of, read_samples, samples_sha256, write_samples

hex16 = st.text("0123456789abcdef", min_size=16, max_size=16)
texts = st.text(st.characters(), max_size=12)


def with_what_may_be_left_out(
    made: Sample, fingerprints: list[str], stand_in: bool, user: str, rank: int, more: int, propensity: float
) -> Sample:
    asked = dict(zip(made.measures, fingerprints, strict=False))
    fallbacks = tuple(made.measures) if stand_in else ()
    return structs.replace(made, asked=asked, fallbacks=fallbacks, user=user, rank=rank, alternatives=rank + more, propensity=propensity)


plain = st.builds(
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
numbers = st.integers(0, 3)
samples = st.builds(
    with_what_may_be_left_out,
    plain,
    st.lists(hex16, max_size=4),
    st.booleans(),
    texts,
    numbers.map(lambda n: n + 1),
    numbers,
    st.floats(0, 1, exclude_min=True),
)


@given(made=st.lists(samples, max_size=5, unique_by=lambda s: s.id))
def test_what_is_written_is_read_again_whatever_the_texts_hold(tmp_path_factory: pytest.TempPathFactory, made: list[Sample]) -> None:
    path = tmp_path_factory.mktemp("samples") / "s.jsonl"
    write_samples(path, made)
    assert read_samples(path) == made


def line(**changes: Any) -> str:
    made = sample()
    fields = {"schema": SCHEMA} | structs.asdict(made) | changes
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


BAD = {
    "not JSON": ('{"schema": ', "not JSON"),
    "empty": ("", "an empty line"),
    "too deep": ("[" * 100_000, "nested too deep"),
    "another schema": (line(schema="assay/sample/2"), "the schema is 'assay/sample/2'"),
    "missing": (line(text_sha256=...), "Object missing required field `text_sha256`"),
    "unknown": (line(colour="red"), "Object contains unknown field `colour`"),
    "no id": (line(id=""), "id is '': Expected `str` of length >= 1"),
    "a rank that is none": (line(rank=True), "rank is True: Expected `int`, got `bool`"),
    "more than were drawn": (line(rank=3, alternatives=2), "rank is 3, of 2 alternatives"),
    "more than certain": (line(propensity=1.5), "propensity is 1.5: Expected `float` <= 1.0"),
    "a number as a text": (line(project=3), "project is 3: Expected `str`, got `int`"),
    "not a fingerprint": (line(model="gpt"), "model is 'gpt': Expected 16 lower-case hex digits"),
    "digits of another script": (line(text_sha256="٣" * 64), "Expected 64 lower-case hex digits"),
    "NaN": (line(measures={"total_logprob": float("nan")}), "NaN is not a number"),
    "an overflow": (line(measures={"m": 12345.0}).replace("12345.0", "1e999"), "1e999 is not a number that a file of Assay may hold"),
    "a text as a measure": (line(measures={"m": "1"}), "measures.m is '1': Expected `float`, got `str`"),
    "a number as a label": (line(labels={"exact_match": 1}), "labels.exact_match is 1: Expected `bool | null`, got `int`"),
    "an unknown event": (line(labels={"correct": True}), "unknown event 'correct'"),
    "a byte order mark": ("\ufeff" + line(), "not JSON"),
    "asked for what is not there": (line(asked={"verbalised": "0" * 16}), "asked names 'verbalised', which is none of the sample's"),
    "a fallback for what is not there": (line(fallbacks=["verbalised"]), "fallbacks names 'verbalised', which is none"),
}


@pytest.mark.parametrize(("text", "reason"), BAD.values(), ids=BAD.keys())
def test_an_unreadable_line_is_refused_with_file_line_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line(id="first") + "\n" + text + "\n")
    with pytest.raises(SampleError) as refused:
        read_samples(path)
    assert str(refused.value).startswith(f"{path}:2: ")
    assert reason in str(refused.value)


def test_a_sample_is_written_as_documented(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    example = text.split("```json\n")[1].split("\n```")[0]
    (tmp_path / "example.jsonl").write_text(example + "\n", encoding="utf-8")
    (read,) = read_samples(tmp_path / "example.jsonl")
    write_samples(tmp_path / "again.jsonl", [read])
    assert json.loads((tmp_path / "again.jsonl").read_text()) == json.loads(example)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_file_without_end_is_refused_at_its_first_line() -> None:
    with pytest.raises(SampleError, match=r"/dev/zero:1: the line is longer than 16 MiB"):
        read_samples(Path("/dev/zero"))


def test_an_id_may_be_used_once_in_all_files_together(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write_samples(one, [sample(1), sample(2)])
    write_samples(two, [sample(3), sample(2)])
    with pytest.raises(SampleError, match=r"two.jsonl:2: the id 's2' was used before, at .*one.jsonl:2"):
        read_samples([one, two])
    with pytest.raises(SampleError, match=r"s.jsonl:2: the id 's1' was used before"):
        write_samples(tmp_path / "s.jsonl", [sample(1), sample(1)])
    assert not (tmp_path / "s.jsonl").exists()


def test_the_place_of_a_sample_is_its_file_and_line(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    write_samples(one, [sample(1), sample(2)])
    write_samples(two, [sample(3), sample(4)])
    assert place_of("s4", [one, two]) == f"{two}:2"
    assert place_of("s5", [one, two]) is None


def test_a_byte_order_mark_is_no_part_of_the_first_line_and_a_line_ends_as_lines_end(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + line(id="a").encode() + b"\r\n" + line(id="b").encode())
    assert [made.id for made in read_samples(path)] == ["a", "b"]
    assert place_of("a", [path]) == f"{path}:1"


def test_a_sample_that_could_not_be_read_is_not_written_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    write_samples(path, [sample(1)])
    before = path.read_bytes()
    with pytest.raises(SampleError, match="must be a finite number, not nan"):
        write_samples(path, [sample(2), sample(3, total_logprob=float("nan"))])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_hash_of_samples_is_what_is_documented_in_any_order_and_depends_on_every_label(tmp_path: Path) -> None:
    a, b = sample(1), sample(2)
    write_samples(tmp_path / "s.jsonl", [b, a])
    digests = sorted(hashlib.sha256(line).digest() for line in (tmp_path / "s.jsonl").read_bytes().splitlines())
    assert samples_sha256([a, b]) == samples_sha256([b, a]) == hashlib.sha256(b"".join(digests)).hexdigest()
    assert samples_sha256([a, b]) != samples_sha256([a, sample(2, label=None)])
