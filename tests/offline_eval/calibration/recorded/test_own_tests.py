from __future__ import annotations

import pytest

from assay.offline_eval.calibration.recorded.draws import assertions, own_test


def test_each_distinct_plain_assertion_of_a_text_is_found_once() -> None:
    first = (
        "\n    f([], 1) == False, 'Empty'\nassert \n    f([1, 2],   1) == (1, 'a')\nassert f([], 1)==False\nassert not f(-1.5)\nassert f("
    )
    second = "f([], 1) == False\n\ndef g():\n    assert f(9)"
    assert assertions([first, second, "\n", "____ == ____"], "f") == [
        "f([], 1) == False",
        "f([1, 2], 1) == (1, 'a')",
        "not f(-1.5)",
        "f(9)",
    ]


def test_what_follows_an_assertion_in_other_code_is_not_part_of_it() -> None:
    assert assertions(["f(1) == 2\nx = f(3)\n", "f(1) == 3\nprint(f(4))"], "f") == ["f(1) == 2", "f(1) == 3"]


@pytest.mark.parametrize(
    "text",
    [
        "f(__import__('os').system('true')) == 0",
        "f(open('x')) == 1",
        "f(1).real == 1",
        "[f(x) for x in range(3)] == []",
        "f(lambda: 1) == 1",
        "f(2 ** 9999999) == 1",
        "f(x=1) == 1",
        "sorted([1], key=f) == [1]",
        "f == f",
        "other(1) == 1",
        "(y := f(1)) == 1",
        "f(f'{1}') == 1",
        "f('" + "a" * 3000 + "') == 1",
    ],
)
def test_what_could_do_more_than_call_and_compare_is_left_out(text: str) -> None:
    assert assertions([text], "f") == []


def test_the_test_reports_a_mark_for_each() -> None:
    namespace: dict[str, object] = {"f": lambda x: 1 // x}
    exec(own_test(["f(1) == 1", "f(0) == 0", "f(2) == 1"]), namespace)
    assert namespace["test_report"] == "100"
