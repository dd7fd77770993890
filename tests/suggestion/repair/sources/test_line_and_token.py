"""What a model writes in the place of a line, and from a suspicious token on."""

from __future__ import annotations

from dataclasses import replace

from tiny_gguf import scripted
from tiny_models import OpenTiny

from assay.inference.llamacpp.model import LlamaModel
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.request import Request
from assay.suggestion.repair.sources import line, token
from assay.suggestion.repair.surprise import surprise_at


def test_the_models_own_line_comes_first(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b" <=", b" b", b"\n", prompt=b"\t"))
    request = Request(Asking(model), ("x", "\tz < y", "w"), 1, 2, asked=(1,))
    found = list(line.candidates(request))
    assert found[0].change.new == ("\ta <= b",)
    assert len({each.change for each in found}) == len(found) > 1


def test_a_token_is_exchanged_and_the_rest_of_the_line_stays(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b" <=", b" b", b"\n", prompt=b"\t"))
    asking, lines = Asking(model), ("x", "\ta < b + c", "w")
    suspect = surprise_at(asking, lines, 1)
    assert suspect is not None
    found = [each.change.new for each in token.candidates(Request(asking, lines, 1, 2, suspects=(suspect,)))]
    assert ("\ta <= b",) in found
    assert ("\ta <= b + c",) in found


def test_several_lines_are_written_as_a_block_too(tiny: LlamaModel) -> None:
    asking = Asking(tiny)
    one, block = (Request(asking, ("if x:", "    a = 1", "    b = 2", "c"), 1, end, asked=(1,)) for end in (2, 3))
    single = list(line.candidates(one))
    assert list(line.candidates(block))[: len(single)] == single
    assert list(line.candidates(replace(one, asked=()))) == []
