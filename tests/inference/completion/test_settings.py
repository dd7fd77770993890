from __future__ import annotations

from assay.inference.completion.settings import Settings


def test_a_fingerprint_changes_with_everything_that_decides() -> None:
    settings = [Settings(), Settings(prefix_tokens=1), Settings(suffix_tokens=1), Settings(line_tokens=1), Settings(block_tokens=1)]
    prints = {setting.fingerprint(layout, 1024) for setting in settings for layout in ("psm", "left_to_right")}
    assert len(prints) == 10
    assert all(len(one) == 16 for one in prints)
    assert Settings().fingerprint("psm", 1024) == Settings().fingerprint("psm", 4096)
    # A context that the budgets don't fit into shows the model less.
    assert len({Settings().fingerprint("psm", context) for context in (1024, 963, 10)}) == 3


def test_the_budget_of_a_function_decides_only_where_functions_are_asked_for() -> None:
    short = Settings(function_tokens=1)
    for kind in ("line", "block"):
        assert short.fingerprint("spm", 4096, kind) == Settings().fingerprint("spm", 4096, kind)
    assert short.fingerprint("spm", 4096, "function") != Settings().fingerprint("spm", 4096, "function")
    assert len({Settings().fingerprint("spm", 4096, kind) for kind in ("line", "block", "function")}) == 3
    assert Settings().fingerprint("spm", 1024, "function") != Settings().fingerprint("spm", 4096, "function")
