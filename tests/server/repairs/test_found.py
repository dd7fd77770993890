"""What was found for lines: which repairs are refused, which can be chosen, and what is said of each."""

from __future__ import annotations

from assay.server.repairs.found import Found
from assay.server.repairs.lines import Lines
from assay.suggestion.repair.request import Repairs
from assay.suggestion.repair.verified import Verification

from .repair_of import repair_of

ALL = {name: repair_of(name) for name in ("passes", "unknown", "refused", "part", "untried")}
FOUND = Found(
    Lines("file:///a.py", 1, 0, 1, ""),
    Repairs((ALL["passes"], ALL["part"]), (), {}, None),
    {
        "passes": Verification(True, 1, 0.1, why="3 more may touch these lines, and were not run"),
        "unknown": Verification(None, 0, 0.1, why="no test touches them"),
        "refused": Verification(False, 1, 0.1, why="test_a fails as before"),
        "part": Verification(False, 2, 0.1, ("test_b",), why="test_a fails as before"),
    },
    tuple(ALL.values()),
)


def test_only_what_the_tests_do_not_pass_and_is_not_shown_is_refused() -> None:
    assert [name for name in ALL if FOUND.is_refused(name)] == ["refused"]
    assert FOUND.refused == 1


def test_a_repair_of_an_older_menu_is_found_though_it_is_not_shown_any_more() -> None:
    assert [FOUND.repair(name) for name in ALL] == list(ALL.values())
    assert FOUND.repair("of another text") is None
    assert FOUND.repair(None) is ALL["passes"]


def test_why_a_repair_is_not_verified_is_its_own_reason() -> None:
    said = {name: FOUND.why_not_verified(repair) for name, repair in ALL.items()}
    assert (said["passes"], said["unknown"], said["untried"]) == ("", "no test touches them", "")
    asked = Found(FOUND.lines, FOUND.repairs, not_verified="you are being asked")
    assert asked.why_not_verified(ALL["passes"]) == "you are being asked"
