"""An answer becomes a program: the function with all that it needs, or its body alone, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest
from needs import DATA, needs_data

from assay.analysis.corpora.benchmarks import Language
from assay.offline_eval.catcode.functors.placing import java, javascript, python
from assay.offline_eval.catcode.functors.placing.header import Header, NoHeader
from assay.offline_eval.catcode.functors.placing.registry import LANGUAGES
from assay.offline_eval.sets.programs import Program, read_programs

PYTHON = Header("import math\n\n\n", "def f(x):\n", "f")
JAVA = Header("import java.util.*;\nclass Solution {\n", "    public boolean f(List<Double> a) {\n", "f")
STATIC = Header("class MinCost {\n", "    public static int minCost(int a) {\n", "minCost")
JAVASCRIPT = Header("const g = (x) => x;\n", "const f = (x) => {\n", "f")


@pytest.mark.parametrize("code", ["        if x:\n            return x\n        return 0", "\treturn x", "def f(x, y=1):\n    return x"])
def test_python_of_any_indentation_and_whole_functions_make_programs_that_define_the_function(code: str) -> None:
    program = python.placed(PYTHON, code)
    assert python.parses(program)
    namespace: dict[str, object] = {}
    exec(program, namespace)
    found = namespace["f"]
    assert callable(found)
    assert found(7) == 7


@pytest.mark.parametrize(
    "code",
    ["return g(x);", "return g(x);\n}", "const f = (x) => g(x);", "export function f(x) { return x }\nmodule.exports = { f };"],
)
def test_javascript_of_either_kind_makes_a_program(code: str) -> None:
    program = javascript.placed(JAVASCRIPT, code)
    assert javascript.parses(program)
    assert "exports" not in program
    assert program.count("const g") == 1


def test_what_javascript_defines_again_is_not_given_twice_and_a_name_inside_of_a_body_makes_no_whole_function() -> None:
    program = javascript.placed(JAVASCRIPT, "const g = (x) => 2 * x;\nconst f = (x) => g(x);")
    assert program.count("const g") == 1
    assert "2 * x" in program
    program = javascript.placed(JAVASCRIPT, "  let f = 1;\n  return f;\n}")
    assert program.startswith(JAVASCRIPT.text)
    assert javascript.parses(program)


@pytest.mark.parametrize(
    "code",
    [
        "return true;\n    }\n}",
        "public static boolean f(List<Double> a) { return true; }",
        "import java.math.*;\npublic class Solution {\n    int k = 1;\n    public boolean f(List<Double> a) { return true; }\n}",
        "class Solution { boolean f(List<Double> a) { return true; } }\nclass Main { public static void main(String[] a) {} }",
    ],
)
def test_java_of_any_kind_makes_one_class_with_the_method_as_it_is_published(code: str) -> None:
    program = java.placed(JAVA, code)
    assert java.parses(program)
    assert program.count("class Solution {") == 1
    assert "class Main" not in program
    assert "public boolean f(List<Double> a) {" in program


def test_neighbours_of_a_static_method_become_static_too_and_what_is_given_is_not_there_twice() -> None:
    program = java.placed(STATIC, "int minCost(int a) { return g(a); }\nint g(int a) { return a; }")
    assert "public static int minCost(int a)" in program
    assert "static int g(int a)" in program
    given = Header("class Solution {\n    int g(int a) { return a; }\n", "    public int f(int a) {\n", "f")
    program = java.placed(given, "class Solution { int g(int a) { return 2; } public int f(int a) { return g(a); } }")
    assert program.count("int g(int a)") == 1
    assert java.parses(program)


def test_what_tells_a_purpose_is_taken_out_of_code_and_headers() -> None:
    code = "def has_close(numbers: list[float], limit: float = 1.0) -> bool:\n    return has_close(numbers)\n"
    assert python.anonymous(code, "has_close") == "def solve(numbers, limit = 1.0):\n    return solve(numbers)\n"
    assert java.anonymous(STATIC.text, "minCost") == "class Program {\n    public static int solve(int a) {\n"
    assert javascript.anonymous(JAVASCRIPT.text, "f") == "const g = (x) => x;\nconst solve = (x) => {\n"


def test_a_prompt_without_a_function_has_no_header() -> None:
    for name, prompt in (("python", "x = 1\n"), ("java", "class A {\n"), ("javascript", "let x = 1\n")):
        with pytest.raises(NoHeader):
            LANGUAGES[name].header_of(prompt, "f")  # type: ignore[index]


FILES: dict[Language, list[str]] = {
    "python": ["humaneval-x/humaneval_python.jsonl.gz", "mbxp/mbpp_release_v1.jsonl.gz"],
    "java": ["humaneval-x/humaneval_java.jsonl.gz", "mbxp/mbjp_release_v1.2.jsonl.gz"],
    "javascript": ["humaneval-x/humaneval_js.jsonl.gz", "mbxp/mbjsp_release_v1.2.jsonl.gz"],
}


@pytest.mark.slow
@needs_data("humaneval-x", "mbxp")
@pytest.mark.parametrize("language", FILES)
def test_every_published_solution_fits_below_its_header_as_a_body_and_as_a_whole(language: Language) -> None:
    placing, odd = LANGUAGES[language], 0
    for program in _programs([DATA / name for name in FILES[language]]):
        try:
            header = placing.header_of(program.prompt, program.entry_point)
        except NoHeader:
            odd += 1
            continue
        if not placing.parses(program.published):
            odd += 1
            continue
        body = placing.placed(header, program.published.removeprefix(program.prompt).rstrip())
        assert placing.parses(body), program.id
        whole = placing.placed(header, program.source)
        assert placing.parses(whole), program.id
        assert placing.header_of(header.text, header.name) == header, program.id
    assert odd <= 2


def _programs(paths: list[Path]) -> list[Program]:
    return [program for program in read_programs(paths) if program.published]
