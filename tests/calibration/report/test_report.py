from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from synthetic_samples import sample, world

from assay.calibration.bands import LIKELY, POSSIBLE
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.metrics.intervals import paired
from assay.calibration.metrics.scores import brier, log_loss, skill
from assay.calibration.report.content import MAX_GROUPS
from assay.calibration.report.measured import measured
from assay.calibration.report.plots import DARK
from assay.calibration.report.report import Report, report
from assay.calibration.samples import Sample

DATE = datetime(2026, 1, 2, tzinfo=UTC)
FILES = ["ranking-exact_match.svg", "reliability-exact_match.svg", "report.html", "report.json", "report.md"]


def fitted_to(samples: Sequence[Sample], *features: str) -> Fit:
    return fit(samples, "exact_match", features or ("total_logprob",), kind="platt", resamples=100, date=DATE)


@pytest.fixture(scope="module")
def fitted() -> Fit:
    return fitted_to(world(500, between=0.3)[0])


@pytest.fixture(scope="module")
def made(fitted: Fit, tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    out = tmp_path_factory.mktemp("report")
    return report([fitted], out), out


class Page(HTMLParser):
    """A page's tags with their attributes, in order, and its texts; only what a browser would take for such."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_report_on_samples_is_written_as_markdown_json_and_a_page_with_its_pictures(made: tuple[Report, Path]) -> None:
    found, out = made
    assert sorted(path.name for path in out.iterdir()) == FILES
    assert sorted(found.files) == sorted(out.iterdir())
    assert (out / "report.json").read_text() == found.document
    assert json.loads(found.document)["schema"] == "assay/report/1"
    text = (out / "report.md").read_text()
    for wanted in ("skill score against the base rate", "floor", "| p11 |", "](reliability-exact_match.svg)", "](ranking-exact_match.svg)"):
        assert wanted in text
    for name in FILES[:2]:
        ET.fromstring((out / name).read_text())


def test_before_is_the_raw_probability_and_after_the_held_out_one(fitted: Fit) -> None:
    found = measured(fitted)
    raw = np.exp([s.measures["total_logprob"] for s in fitted.samples])
    assert found.difference is not None
    assert found.before.evidence.brier.value == pytest.approx(brier(raw, fitted.labels), rel=1e-12)
    assert found.before.evidence.log_loss.value == pytest.approx(log_loss(raw, fitted.labels), rel=1e-12)
    assert found.after.evidence.brier.value == pytest.approx(brier(fitted.held_out, fitted.labels), rel=1e-12)
    assert found.difference == paired(raw, fitted.held_out, fitted.labels, fitted.groups)
    project = np.unique([s.project for s in fitted.samples], return_inverse=True)[1]
    assert found.after.skill_within_projects == pytest.approx(skill(fitted.held_out, fitted.labels, project), rel=1e-12)


@pytest.mark.slow
def test_an_infinite_log_loss_is_said_and_everything_else_is_as_without_a_bound(tmp_path: Path) -> None:
    samples = [structs.replace(s, measures={"verbalised": round(0.1 + 0.9 * (s.seed % 10) / 9, 1)}) for s in world(300)[0]]
    made = fitted_to(samples, "verbalised")
    said = np.array([s.measures["verbalised"] for s in samples])
    assert (~made.labels[said == 1]).any()
    found = json.loads(report([made], tmp_path).document)["reports"][0]
    assert found["before"]["evidence"]["log_loss"] is None
    assert found["difference"]["log_loss"] is None
    assert found["before"]["evidence"]["brier"]["value"] == pytest.approx(brier(said, made.labels), rel=1e-12)
    assert re.search(r"\| log loss, nats \| infinite \| 0\.\d+ .*\|  \|", (tmp_path / "report.md").read_text())


@pytest.mark.slow
def test_many_groups_are_dealt_into_blocks_and_every_sample_stays(tmp_path: Path) -> None:
    made = fitted_to(world(1200, projects=400)[0])
    found = json.loads(report([made], tmp_path).document)["reports"][0]
    assert 0 < found["after"]["kuiper"]["p_value"] <= 1
    shown = re.findall(r"^\| p\d+ \|", (tmp_path / "report.md").read_text(), re.MULTILINE)
    assert len(shown) == MAX_GROUPS
    assert len(found["by_project"]) == made.groups.max() + 1
    sizes = sorted((row["n"] for row in found["by_project"]), reverse=True)
    left_out = f"{len(sizes) - MAX_GROUPS:,} others with {sum(sizes[MAX_GROUPS:]):,} samples are in report.json"
    assert left_out in (tmp_path / "report.md").read_text()
    assert left_out in (tmp_path / "report.html").read_text()


def test_the_page_runs_nothing_and_fetches_nothing(made: tuple[Report, Path]) -> None:
    text = (made[1] / "report.html").read_text()
    page = Page(text)
    assert "://" not in text
    assert not {"script", "link", "iframe", "object", "embed", "img", "a", "foreignobject"} & {tag for tag, _ in page.tags}
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#"), tag
    for used in re.findall(r"url\(([^)]*)", text):
        assert used.startswith("#")
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) <= set(ids)
    (policy,) = [a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_the_page_says_in_words_what_its_pictures_and_tables_show(made: tuple[Report, Path]) -> None:
    page = Page((made[1] / "report.html").read_text())
    drawn = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(drawn) == 2
    for attributes in drawn:
        assert attributes["role"] == "img"
        assert "n = 500: after, the" in (attributes["aria-label"] or "")
    tags = [tag for tag, _ in page.tags]
    assert tags.count("caption") == tags.count("table") == tags.count("thead") > 5
    assert {attributes.get("scope") for tag, attributes in page.tags if tag == "th"} == {"col", "row"}


def test_every_colour_of_a_picture_has_one_for_the_dark(made: tuple[Report, Path]) -> None:
    for name in FILES[:2]:
        svg = (made[1] / name).read_text()
        drawn = set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg))
        assert drawn <= DARK.keys()
        assert LIKELY.colour.lower() in drawn
        for light in drawn:
            assert f'[style*="stroke: {light}"]{{stroke:{DARK[light]}!important}}' in svg
    assert f'[style*="fill: {POSSIBLE.colour.lower()}"]{{fill:{POSSIBLE.colour_dark.lower()}!important}}' in svg
    assert "@media screen and (prefers-color-scheme:dark)" in svg


@pytest.mark.slow
def test_names_that_mean_something_to_markdown_or_html_are_only_names(tmp_path: Path) -> None:
    odd = "<script>alert(1)</script>|`a`*b*_c_ [d](javascript:e) &lt; $x$"
    samples = [
        structs.replace(s, project=f"{odd}\n{s.project}", language=f"<b>{s.seed % 2}", model_name='"><img src=x>')
        for s in world(200, projects=6)[0]
    ]
    report([fitted_to(samples)], tmp_path)
    page = Page((tmp_path / "report.html").read_text())
    assert not {"script", "b", "img"} & {tag for tag, _ in page.tags}
    assert f"{odd}\np3" in page.texts
    escaped = r"| \<script\>alert(1)\</script\>\|\`a\`\*b\*\_c\_ \[d\](javascript:e) \&lt; \$x\$ p3 |"
    text = (tmp_path / "report.md").read_text()
    assert escaped in text


@pytest.mark.slow
def test_one_class_is_reported_with_what_is_defined(tmp_path: Path) -> None:
    made = fit([sample(i, project=f"p{i % 6}", total_logprob=-1.0 - i % 4) for i in range(20)], "exact_match", date=DATE)
    found = json.loads(report([made], tmp_path).document)["reports"][0]
    assert found["after"]["roc"] is found["after"]["skill_within_projects"] is None
    text = (tmp_path / "report.md").read_text()
    why = "not defined: there is only one outcome"
    assert f"| AUC | {why} | {why} |" in text
    assert "| not defined: in each project there is only one outcome |" in text
    assert "the area under the ROC curve is not defined" in text


@pytest.mark.slow
def test_the_candidates_the_guards_and_the_dial_are_in_the_report(tmp_path: Path) -> None:
    report([fit(world(400)[0], "exact_match", resamples=100, date=DATE)], tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert re.search(r"\| platt \| 1 \| 0 \| 0\.\d{4} \| \+0\.0000 ± 0\.0000 \| chosen \|", text)
    assert re.search(r"\| isotonic \| 1 \| 0 \| 0\.\d{4} \| .* \|  \|", text)
    assert re.search(r"\| slope \| yes \| the slope of total_logprob is", text)
    assert re.search(r"\| 50 % \| 0\.\d\d \| \d+\.\d % \(.* to .* %\) \| \d+\.\d % \(.* to .* %\) \|", text)


@pytest.mark.slow
def test_the_dial_promises_nothing_beyond_what_was_held_out(tmp_path: Path) -> None:
    for projects, among in (
        (12, "all projects like these together"),
        (1, "all files of this project that are like these, and of no other project, together"),
    ):
        report([fitted_to(world(400, projects=projects)[0])], tmp_path)
        for name in ("report.md", "report.html"):
            assert f"is right: over {among}, with a probability of 90 %" in (tmp_path / name).read_text()


@pytest.mark.slow
def test_a_dial_without_any_level_is_a_sentence_and_no_table(tmp_path: Path) -> None:
    report([fitted_to(world(30, projects=6)[0])], tmp_path)
    for name in ("report.md", "report.html"):
        text = (tmp_path / name).read_text()
        assert "30 samples from 6 projects do not suffice to name a confidence from which on at least 5 % of what is shown is right" in text
        assert "none is known" not in text
        assert "Thresholds" not in text


def test_the_dial_of_a_moved_map_is_of_its_project_also_in_a_report_on_the_file(fitted: Fit, tmp_path: Path) -> None:
    moved = fit(world(400, projects=1, seed=1)[0], "exact_match", adapt_from=fitted.calibrator, groups="file", resamples=50, date=DATE)
    report([moved.calibrator], tmp_path)
    assert "is right: over all files of this project that are like these" in (tmp_path / "report.md").read_text()
