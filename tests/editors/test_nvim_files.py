"""What the Neovim plugin's files say, without a Neovim."""

from __future__ import annotations

import re
from pathlib import Path

from assay.calibration.bands import BANDS

PLUGIN = Path(__file__).parents[2] / "editors" / "nvim"


def test_the_bands_are_those_of_the_server() -> None:
    said = re.findall(
        r"word = '([^']+)', shape = '([^']+)', colour = '([^']+)', colour_dark = '([^']+)'",
        (PLUGIN / "lua" / "assay" / "bands.lua").read_text(encoding="utf-8"),
    )
    assert said == [(band.word, band.shape, band.colour, band.colour_dark) for band in BANDS]


def test_every_tag_of_the_help_is_there_once_and_every_link_leads_to_one() -> None:
    text = (PLUGIN / "doc" / "assay.txt").read_text(encoding="utf-8")
    tags = re.findall(r"(?<!\S)\*([^*\s|]+)\*(?!\S)", text)
    assert len(set(tags)) == len(tags)
    links = set(re.findall(r"\|(:?[Aa]ssay[^|\s]*)\|", text))
    assert links - set(tags) == set()


def test_the_readme_names_the_default_keys() -> None:
    config = (PLUGIN / "lua" / "assay" / "config.lua").read_text(encoding="utf-8")
    keys = re.findall(r"^    \w+ = '(<[^']+>)',", config, re.MULTILINE)
    assert len(keys) == 7
    for name in ("README.md", "doc/assay.txt"):
        text = (PLUGIN / name).read_text(encoding="utf-8")
        assert [key for key in keys if key.replace("\\\\", "\\") not in text] == []
