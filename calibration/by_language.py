"""What a calibrator of several languages is worth in each of them: a language in which no skill is shown gets no number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats
from .evidence import problems_of_interval
from .field_types import Count, Positive
from .fitting.folds import GROUP_OF, MIN_GROUPS, Grouping, numbered, renumbered
from .guards import MIN_PER_CLASS, MIN_SAMPLES, Status, are_too_few
from .metrics.intervals import Interval, intervals
from .samples import Sample


@dataclass(frozen=True, slots=True)
class InLanguage:
    """How a calibrator stands in one of its languages, by that language's held-out samples alone.

    groups: how many of those that were held out have samples of it.
    skill: against the base rate of the language itself; None where it is not defined.
    status, reason: as a calibrator's. They count where the calibrator itself is informative.
    by_file: files were held out together, because few projects have the language.
    """

    name: str
    n: Positive
    positives: Count
    groups: Positive
    skill: Interval | None
    status: Status
    reason: str
    by_file: bool = False

    def problems(self) -> Iterator[str]:
        """What does not go together: a file may hold anything."""
        if max(self.positives, self.groups) > self.n:
            yield "n: less than positives or groups"
        yield from (reason for _, reason in problems_of_interval(self.skill, "skill"))


def by_file_where_few(samples: Sequence[Sample]) -> tuple[NDArray[np.intp], frozenset[str]]:
    """Projects as groups (n,), but files in a language that fewer than `MIN_GROUPS` projects have; and these languages.

    A language that one project alone has would else be judged by a map that has seen none of it; and two groups tell nothing of others.
    Languages with too few samples to be judged stay as they are.
    """
    count = Counter(sample.language for sample in samples)
    having = Counter(language for language, _ in {(sample.language, sample.project) for sample in samples})
    few = frozenset(language for language, n in count.items() if having[language] < MIN_GROUPS and n >= MIN_SAMPLES)
    kinds: list[Grouping] = ["file" if sample.language in few else "project" for sample in samples]
    return numbered([(kind, GROUP_OF[kind](sample)) for kind, sample in zip(kinds, samples, strict=True)]), few


def by_language(
    names: Sequence[str], held_out: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], by: str, by_file: Collection[str] = ()
) -> tuple[InLanguage, ...]:
    """How held-out probabilities (n,) of labels y (n,) in groups (n,) stand in each language; empty where all are in one.

    names: the language of each sample. by: what was held out together, for people. by_file: the languages where that was files, because
    few projects have them.
    """
    languages = sorted(set(names))
    if len(languages) < 2:
        return ()
    of = np.array(names)
    return tuple(
        _in_language(name, held_out[of == name], y[of == name], renumbered(groups[of == name]), by, few=name in by_file)
        for name in languages
    )


def _in_language(name: str, p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], by: str, *, few: bool) -> InLanguage:
    by = "file" if few else by
    n, positives, count = len(y), int(y.sum()), int(groups.max()) + 1
    # fewer resamples: they are for the calibration error, which is not told here
    skill = intervals(p, y, groups, resamples=1).skill if count > 1 else None
    status: Status
    if are_too_few(y):
        status = "insufficient"
        reason = f"{n} samples in {name}, {positives} positive; at least {MIN_SAMPLES} with {MIN_PER_CLASS} of each are needed"
    elif skill is None:
        status, reason = "insufficient", f"too few in {name} to tell: {n} samples of {count} {by}{'s' if count > 1 else ''}"
    else:
        shown = f"the skill score on held-out data in {name} is {skill.value:z.3f} with interval {skill.low:z.3f} to {skill.high:z.3f}"
        status, reason = ("informative", shown) if skill.low > 0 else ("uninformative", f"no skill is shown in {name}: {shown}")
    if few and status != "insufficient":
        reason += "; held out by file, because few projects have it, so that how well it does in another is not known"
    return InLanguage(name, n, positives, count, skill, status, reason, few)
