from __future__ import annotations

import io
import sys
import sysconfig
import tokenize
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.suggestion import zones
from assay.suggestion.languages import _BY_SUFFIX
from assay.suggestion.zone_spans import SPANS, Zone
from assay.suggestion.zones import zone_at

LANGUAGES = sorted(SPANS)
# Where lexers go wrong: what opens, closes, nests and escapes, in any order.
MARKS = [
    *"\"'`\\/#{}()[]:=A\n?é😀",
    *['"""', "'''", "''", "//", "/*", "*/", "{{", "}}", "${", "$(", "#{", "\\(", "\\{", "=>", "return", "?>", "<?php", "<!--", "-->"],
    "\r\n",
    *['f"', "rf'", 'f"""', 'r#"', 'R"x(', ')x"', "--[[", "]]", "--[==[", "<<EOF", "<<~A", "EOF", '@"', '$"', "'a'", "=begin", "=end"],
]
PIECES = st.lists(
    st.one_of(
        st.sampled_from(MARKS),
        st.text(max_size=3),
    ),
    max_size=40,
).map("".join)


@given(PIECES, st.sampled_from([*LANGUAGES, "plaintext"]), st.booleans())
def test_no_text_of_any_language_fails(text: str, language: str, cut: bool) -> None:
    assert zone_at(text, language, cut=cut) in ("code", "comment", "string")


# Few, so that strings are closed, and holes in them opened, often.
HOLES = ["a", "\n", "\r", '"', "'", "`", "{", "}", "${", "$(", ")", "#{", "\\(", "<<EOF", "EOF", 'f"', '$"', '"""', "def f("]
GROWING = st.lists(st.sampled_from(HOLES), max_size=30) | st.lists(st.sampled_from(MARKS), max_size=30)


@example(['cat <<EOF "$(a "b")"', " ", "\n", "a"], "shellscript", False)
@example(['"${a', "\n", "\n", '}"', "'"], "kotlin", False)
@example(['f"{b["k"]}"', "\n", '"""', "\n", "def f(", "x"], "python", True)
@given(GROWING, st.sampled_from(LANGUAGES), st.booleans())
def test_a_text_that_grows_is_judged_as_one_that_is_read_anew(pieces: list[str], language: str, cut: bool) -> None:
    known: dict[tuple[str, bool], str] = {}
    for text in accumulate(pieces):
        zones._KNOWN.clear()
        anew = zone_at(text, language, cut=cut)
        zones._KNOWN.clear()
        zones._KNOWN.update(known)
        assert zone_at(text, language, cut=cut) == anew
        known = dict(zones._KNOWN)


def test_every_language_that_a_file_can_have_is_known() -> None:
    assert set(_BY_SUFFIX.values()) <= set(LANGUAGES)


@pytest.mark.parametrize(
    ("language", "prefix", "zone"),
    [
        ("python", "# don't", "comment"),
        ("python", "# don't\n", "code"),
        ("python", "x = 'it", "string"),
        ("python", "x = 'it\\\n", "string"),
        ("python", "'''it's ''", "string"),
        ("python", 'rb"\\"', "string"),
        ("python", 'f"a {b', "code"),
        ("python", 'f"{{b', "string"),
        ("python", 'f"{{{b', "code"),
        ("python", 'f"{b[1:2', "code"),
        ("python", 'f"\\N{DASH', "string"),
        ("python", 'f"{b\nc = ', "code"),
        ("python", "f'''{b\n} c", "string"),
        ("python", 'b"{b', "string"),
        ("javascript", "/* it's\n", "comment"),
        ("javascript", "`a ${{b: `${c}`}} d", "string"),
        ("javascript", "`a ${{b: `${c}`} ", "code"),
        ("javascript", "x = /[/\"'`]/.test(y) ", "code"),
        ("javascript", "a / b; `", "string"),
        ("typescriptreact", "<br />\n<p>`", "string"),
        ("cpp", "n = 1'000'000; ", "code"),
        ("cpp", 'R"x(a)"b)x" ', "code"),
        ("java", '"""\na "b" c', "string"),
        ("csharp", '@"a ""b', "string"),
        ("csharp", '$"a {b', "code"),
        ("go", "`a\\` + ", "code"),
        ("kotlin", '"a ${b("c")} d', "string"),
        ("rust", "fn f<'a>(x: &'a str, c: char) { c == '\"' ", "code"),
        ("rust", 'r#"a"b"# ', "code"),
        ("rust", "/* /* */ */ ", "code"),
        ("swift", '"a \\(b("c")) d', "string"),
        ("swift", '#"a " b', "string"),
        ("php", "?> it's <?php $x ", "code"),
        ("php", '"a {$b["c"]} d', "string"),
        ("php", "<<<'END'\nit's\nEND;\n", "code"),
        ("ruby", '"a #{b("c")} d', "string"),
        ("ruby", "=begin\nit's\n", "comment"),
        ("ruby", "x = <<~EOS\n  it's\n  EOS\n", "code"),
        ("shellscript", "${#x} # it's", "comment"),
        ("shellscript", 'a "$(echo "b") c', "string"),
        ("shellscript", "cat <<EOF | wc\nit's\nEOF\n", "code"),
        ("lua", "--[==[ a ]] ", "comment"),
        ("lua", "[[ a\n", "string"),
        ("html", "<!-- a", "comment"),
        ("html", '<a href="b', "string"),
        ("css", "/* a */ b { content: 'c", "string"),
        ("json", '{"a', "string"),
        ("jsonc", "// a", "comment"),
        ("yaml", "a: don't # b", "comment"),
        ("toml", "a = '''b", "string"),
        ("sql", "'it''s' ", "code"),
        ("markdown", "it's <!-- a", "comment"),
    ],
)
def test_a_place_is_judged_as_the_language_reads_it(language: str, prefix: str, zone: Zone) -> None:
    assert zone_at(prefix, language) == zone


def test_a_text_that_begins_inside_a_docstring_is_read_from_the_first_definition() -> None:
    text = 'of the docstring.\n    """\n    return 1\n\ndef g(x):\n    """Of g."""\n    return x + '
    assert zone_at(text, "python") == "string"
    assert zone_at(text, "python", cut=True) == "code"
    assert zone_at(text + '"""', "python", cut=True) == "string"


@pytest.mark.parametrize("name", ["textwrap.py", "string.py", "json/scanner.py"])
def test_python_is_judged_as_its_tokenizer_judges(name: str) -> None:
    """At both ends of each token, and in its middle where it is a comment or a string.

    Not compared are the insides of f-strings: before Python 3.12 the tokenizer does not look into them.
    """
    text = (Path(sysconfig.get_path("stdlib")) / name).read_text(encoding="utf-8")
    wrong = [(text[:at][-30:], expected) for at, expected in _boundaries(text) if zone_at(text[:at], "python") != expected]
    assert wrong == []


def _boundaries(text: str) -> Iterator[tuple[int, Zone]]:
    starts = [0, *accumulate(map(len, io.StringIO(text)))]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start, end = (starts[line - 1] + column for line, column in (token.start, token.end))
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        if sys.version_info >= (3, 12) and token.type in (tokenize.FSTRING_START, tokenize.FSTRING_MIDDLE, tokenize.FSTRING_END):
            continue
        yield start, "code"
        if token.type == tokenize.COMMENT:
            yield start + 1, "comment"
            yield end, "comment"
        else:
            yield end, "code"
        if token.type == tokenize.STRING:
            quoted = token.string.lstrip("rbuRBUfF")
            prefix = len(token.string) - len(quoted)
            quotes = 3 if quoted[:3] in ('"""', "'''") else 1
            yield start + prefix + quotes, "string"
            yield end - quotes, "string"
            if "f" not in token.string[:prefix].lower():
                yield (start + prefix + end) // 2, "string"
