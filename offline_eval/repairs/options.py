"""The sets, and which options do something in which. Light: every `assay --help` imports it."""

from __future__ import annotations

from ..command import Sorts

# Of published bugs, and what there is to name.
PROGRAMS = {
    "quixbugs": "a copy of the project github.com/jkoppel/QuixBugs",
    "defects4j": "a copy of the project github.com/rjust/defects4j, or an archive of its folder framework/",
}
SORTS = Sorts(
    {name: f"--set {name}" for name in ("lines", *PROGRAMS)},
    only={"data": tuple(PROGRAMS), **dict.fromkeys(("projects", "per_project", "cache", "python"), ("lines",))},
    steps={
        "lines": ("draw", "bug", "propose", "label", "locate", "loop"),
        "quixbugs": ("propose", "label", "loop"),
        "defects4j": ("propose",),
    },
)
