"""The steps: what is made of what, by which commands, and how long that takes."""

from __future__ import annotations

from dataclasses import dataclass

from assay.offline_eval.repairs.samples import FEATURES

TASKS = ("line", "line_rest", "line_middle")
# The validation tables compare them. Calibrators are fitted to the first alone.
ARMS = "docstring,no_docstring,no_suffix"
# Of several steps, each of which makes the folds of its own calibrators there.
FOLDS = "calibration/shipped/folds"

# Code that decides a result beside the model and the prompt, whose fingerprints stand for the rest: files, and folders with all in them.
_ASKED = ("offline_eval/memory.py", "offline_eval/suggested.py", "analysis/python", "calibration/measures", "inference/project_memory",
          "suggestion/memory")  # fmt: skip
_PLACES = ("offline_eval/calibration/draw.py", "offline_eval/calibration/study.py", "offline_eval/sets", *_ASKED)
_REMAINDER = ("suggestion/remainder.py", "suggestion/remaining_between.py")
_FITS = ("calibration/fitting", "calibration/maps", "calibration/measures", "calibration/metrics", "calibration/evidence.py",
         "calibration/guards.py", "calibration/held_out.py", "calibration/monitoring/dial.py")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes
        name: GROUP/STEP.
        needs: the steps whose results it reads.
        code: what decides its result beside model, prompt and commands: files and folders of the repository.
        commands: as in a shell, where `assay` and `python` are those of this environment and `> FILE` at the end keeps what is printed.
            {self} is the step's own folder, {GROUP/STEP} that of another; {tree} is where evidence is written: the repository.
            {workers}, {python312}, {f16} and {exported} are found on the machine; other names in braces are sizes.
        makes: what it writes into the tree: files, folders, and blocks as PAGE#BLOCK. Of FOLDS only those of calibrators that it makes.
        minutes: how long it takes on two quiet cores, and `because`, how that is known.
        programs: what must be on the machine, of PROGRAMS.
    """

    name: str
    commands: tuple[str, ...]
    needs: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    minutes: float = 1.0
    because: str = ""
    programs: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """What stands before the slash."""
        return self.name.partition("/")[0]


def _pages(*modules: str) -> tuple[str, ...]:
    """The code that writes blocks."""
    return tuple(f"training/remake/pages/{module}.py" for module in ("cells", *modules))


# As many as take minutes, and as few as show that every step runs.
FULL = {
    "per_project": "150", "scopes": "40", "typed": "60", "samples": "100", "more_samples": "240", "minutes": "30",
    # All whose suites serve, and those whose tests take least.
    "suites": "", "quick_suites": "beautifulsoup4,boltons,cachetools,intervaltree,markdown,marshmallow,sqlparse,toolz", "card": "",
    "places": "--per-project 100", "arms_places": "--per-project 20", "tests_folds": "--keep-folds", "studied": "--per-project 60",
    "rewritten": "--per-project 40", "mended": "--per-project 8", "in_languages": "60",
}  # fmt: skip
TRIAL = {
    "per_project": "3", "scopes": "3", "typed": "1", "samples": "5", "more_samples": "6", "minutes": "2",
    "suites": "cachetools,toolz", "quick_suites": "toolz",
    "card": "--ngram-megabytes 1 --files 4 --lines 6 --spans 6 --fixes 2",
    # Of so few projects no folds can be kept.
    "places": "--projects cachetools,toolz --per-project 4", "arms_places": "--projects cachetools,toolz --per-project 2",
    "tests_folds": "", "studied": "--projects cachetools,toolz --per-project 2",
    "rewritten": "--projects cachetools,toolz --per-project 2", "mended": "--projects cachetools,toolz --per-project 2",
    "in_languages": "2",
}  # fmt: skip
# The calibrators of where a bug is: event and task. Those of repairs are not shipped: they hold for bugs by rules alone (docs/studies.md).
REPAIRS = (("exact_match", "fault"),)
# The runs whose reports say what the data say of the papers' claims.
_STUDIES = (
    "{exact_match/complete}/projects", "{tests_pass/complete}/suites", "{tests_pass/counterfeit}/counterfeit",
    "{tests_pass/catcode}/catcode",
)  # fmt: skip
PROGRAMS = {
    "python312": "Python 3.12 or newer for the projects' tests: python3.12 on PATH, or --python FILE",
    "corpus": "the training corpus: python -m training.corpus build",
    "exported": "the run that the embedded model was exported from, export-<M>M in the cache, beside its file",
    "node": "node and npm",
    "chromium": "Chromium, or another browser that ASSAY_CHROMIUM names",
}

STEPS = (
    Step(
        "exact_match/complete",
        (f"assay eval calibration --out {{self}}/projects --per-project {{per_project}} --arms {ARMS} --workers {{workers}}",),
        code=_PLACES, minutes=22, because="8,900 gaps, most of them in three arms, at 19 a second",
    ),
    Step(
        "exact_match/complete_several",
        ("assay eval calibration --out {self}/alternatives --per-project {per_project} --alternatives 4 --workers {workers}",),
        code=_PLACES, minutes=16, because="8,900 gaps of four, at half the rate of one",
    ),
    Step(
        "exact_match/fit",
        (
            *(
                f"assay calibrate fit {{exact_match/complete}}/projects/samples/{task}.jsonl --event exact_match --features free "
                f"--keep-folds --out {{self}}/calibrators/exact_match-{task}.json"
                for task in TASKS
            ),
            *(
                f"assay calibrate fit {{exact_match/complete_several}}/alternatives/samples/{task}.jsonl --event exact_match "
                f"--features free --keep-folds --out {{self}}/calibrators/exact_match-{task}-alternatives.json"
                for task in TASKS
            ),
            "python benchmarks/alternatives.py --calibrators {self}/calibrators --json {self}/unshipped.json "
            + " ".join(f"{{exact_match/complete_several}}/alternatives/samples/{task}.jsonl" for task in TASKS)
            + " > {self}/alternatives.md",
            "python -m training.remake.ship {tree} {self}/calibrators {self}/unshipped.json",
        ),
        needs=("exact_match/complete", "exact_match/complete_several"),
        code=(*_FITS, "benchmarks/alternatives.py", "training/remake/ship.py"),
        makes=(*(f"calibration/shipped/exact_match-{task}{of}.json" for task in TASKS for of in ("", "-alternatives")), FOLDS),
        minutes=1, because="fits of one to three seconds",
    ),
    Step(
        "exact_match/report",
        (
            *(
                f"assay calibrate report {{exact_match/complete}}/projects/samples/{task}.jsonl --event exact_match --features free "
                f"--out {{self}}/{task}"
                for task in TASKS
            ),
            "python -m training.remake.pages.exact_match {tree} {self} {exact_match/complete}/projects",
            f"python -m training.remake.pages.pasted {{tree}} docs/calibration.md {{exact_match/fit}}/alternatives.md {','.join(TASKS)} "
            "'alternatives-shipped=Which are shipped'",
        ),
        needs=("exact_match/complete", "exact_match/fit"),
        code=(*_FITS, "calibration/report", *_pages("exact_match", "pasted")),
        makes=(
            *(f"docs/calibration/{task}" for task in TASKS),
            *(f"docs/calibration.md#{block}" for block in (
                "result", "before-and-after", "hidden", "dial", "between-projects", "alternatives-shipped",
            )),
            "training/README.md#exact-match", "README.md#share", "docs/commands.md#share",
        ),
        minutes=0.5, because="three reports of some seconds",
    ),
    Step(
        "exact_match/memory",
        (
            *(
                f"assay eval calibration --out {{self}}/{scope} --memory {scope} --per-project {{scopes}} --workers {{workers}}"
                for scope in ("project", "file", "off")
            ),
            "python -m training.remake.pages.memory {tree} {self}/project {self}/file {self}/off",
        ),
        code=(*_PLACES, *_FITS, *_pages("memory", "measures")),
        makes=("docs/calibration.md#memory",),
        minutes=9, because="three times 2,900 gaps at 16 a second",
    ),
    Step(
        "exact_match/measures",
        ("python -m training.remake.pages.measures {tree} {exact_match/complete}/projects",),
        needs=("exact_match/complete",),
        code=(*_FITS, *_pages("measures")),
        makes=("docs/calibration.md#measures", "docs/maps.md#levels"),
        minutes=1, because="some forty fits of a second",
    ),
    Step(
        "exact_match/typed_along",
        (
            "python benchmarks/typed_along.py --per-project {typed} --workers {workers} --calibrators {tree}/calibration/shipped "
            "> {self}/typed.md",
            f"python -m training.remake.pages.pasted {{tree}} docs/calibration.md {{self}}/typed.md {','.join(TASKS)} "
            "'typed-along=Typed along'",
        ),
        needs=("exact_match/fit",),
        code=(*_PLACES, "benchmarks/typed_along.py", "server/requests/cache.py", *_REMAINDER),
        makes=("docs/calibration.md#typed-along",),
        minutes=7, because="4,000 gaps of four, at half the rate of one",
    ),
    Step(
        "exact_match/languages",
        (
            "assay eval calibration --set packages --out {self}/packages --per-project {in_languages} --workers {workers}",
            *(
                f"assay calibrate fit {{self}}/packages/samples/{task}.jsonl --event exact_match --features free --levels language "
                f"{{tests_folds}} --out {{tree}}/calibration/shipped/exact_match-{task}-languages.json"
                for task in TASKS
            ),
        ),
        code=(*_PLACES, *_FITS, "analysis/lines"),
        makes=(*(f"calibration/shipped/exact_match-{task}-languages.json" for task in TASKS), FOLDS),
        minutes=8, because="2,800 places at 8 a second beside other work",
    ),
    Step(
        "recording/demo",
        ("assay demo > {self}/demo.txt", "python -m training.remake.pages.recording {tree} {self}/demo.txt"),
        needs=("exact_match/fit",),
        code=("examples", "cli/demo.py", *_pages("recording")),
        makes=("README.md#demo", "docs/commands.md#demo"),
        minutes=0.2, because="nineteen suggestions",
    ),
    Step(
        "card/evaluate",
        (
            "python -m training.evaluate inference/embedded/assay.gguf --json {self}/figures.json {f16} {card} > {self}/table.md",
            "python -m training.remake.pages.model_card {tree} figures {self}/table.md",
        ),
        code=tuple(f"training/{name}.py" for name in (
            "corpus", "data", "evaluate", "fix_scores", "fixes", "mutate", "ngram", "scores", "tokenizer",
        )),
        makes=("training/README.md#figures",),
        minutes=11, because="the last run that was noted in the model card", programs=("corpus",),
    ),
    Step(
        "card/check",
        (
            "python -m training.check_export --run {exported} --tokenizer {exported}/tokenizer.json > {self}/check.txt",
            "python -m training.remake.pages.model_card {tree} check {self}/check.txt",
        ),
        code=("training/check_export.py", "training/export.py"),
        makes=("training/README.md#check",),
        minutes=5, because="4 times 40 texts through torch and llama.cpp, roughly", programs=("exported",),
    ),
    Step(
        "pictures/vscode",
        ("editors/vscode/e2e/draw-pictures {tree}/editors/vscode/media",),
        needs=("exact_match/fit",),
        code=("editors/vscode/e2e/pictures.ts", "editors/vscode/src"),
        makes=tuple(f"editors/vscode/media/{name}.png" for name in ("ghost", "dial", "panel")),
        minutes=2, because="93 s on a busy machine where the editor was installed; once a minute more", programs=("node", "chromium"),
    ),
    Step(
        "tests_pass/complete",
        (
            "assay eval calibration --out {self}/suites --set suites {places} --workers {workers} --python {python312}",
        ),
        code=(*_PLACES, "analysis/oracle"),
        minutes=55, because="half of it to find 2,000 places, half to judge 3,100 texts", programs=("python312",),
    ),
    Step(
        "tests_pass/arms",
        (
            f"assay eval calibration --out {{self}}/suites_arms --set suites {{arms_places}} --arms {ARMS} --workers {{workers}} "
            "--python {python312}",
        ),
        needs=("tests_pass/complete",),
        code=(*_PLACES, "analysis/oracle"),
        minutes=15, because="400 places in three arms, and 1,100 texts to judge", programs=("python312",),
    ),
    Step(
        "tests_pass/counterfeit",
        ("assay eval counterfeit --out {self}/counterfeit {studied} --workers {workers} --python {python312}",),
        needs=("tests_pass/complete",),
        code=(
            *_PLACES, "analysis/oracle", "offline_eval/counterfeit/classes.py",
            *(f"offline_eval/counterfeit/lines/{name}.py" for name in ("draw", "facts", "judge", "label", "repair", "study", "texts")),
        ),
        minutes=80, because="26,400 generations in 3 minutes, 16,700 texts judged at 4 a second", programs=("python312",),
    ),
    Step(
        "tests_pass/catcode",
        ("assay eval catcode --out {self}/catcode {rewritten} --workers {workers} --python {python312}",),
        needs=("tests_pass/complete",),
        code=(
            *_PLACES, "analysis/oracle", "analysis/morphisms", "analysis/bugs", "offline_eval/asked_line.py",
            *(f"offline_eval/catcode/lines/{name}.py" for name in ("asking", "confirm", "facts", "rewrites", "study", "view")),
        ),
        minutes=55, because="867 lines at 5.5 s of one worker, their scores in 3 minutes, 1,200 texts judged", programs=("python312",),
    ),
    Step(
        "tests_pass/fit",
        (
            # A map that can be moved toward a project's own samples, which is what these maps are for.
            *(
                f"assay calibrate fit {{tests_pass/complete}}/suites/samples/{task}.jsonl --event tests_pass --features free --map platt "
                f"{{tests_folds}} --out {{tree}}/calibration/shipped/tests_pass-{task}.json"
                for task in TASKS
            ),
            "python -m training.remake.pages.tests_pass {tree}",
        ),
        needs=("tests_pass/complete",),
        code=(*_FITS, *_pages("tests_pass")),
        makes=(*(f"calibration/shipped/tests_pass-{task}.json" for task in TASKS), FOLDS, "docs/calibration.md#tests-pass"),
        minutes=0.5, because="three fits of a second",
    ),
    Step(
        "repairs/study",
        ("assay eval repairs --out {self}/repairs {mended} --workers {workers} --python {python312}",),
        needs=("tests_pass/complete",),
        code=(
            *_PLACES, "analysis/bugs", "analysis/morphisms", "analysis/oracle", "analysis/repairs", "suggestion/repair",
            "offline_eval/asked_line.py", "offline_eval/counterfeit/classes.py",
            *(f"offline_eval/counterfeit/lines/{name}.py" for name in ("draw", "label")), "offline_eval/repairs/lines",
            *(f"offline_eval/repairs/{name}.py" for name in ("candidates", "faults", "loop", "model", "samples")),
        ),
        minutes=40, because="160 places at about 30 s of a processor, from a trial with 6", programs=("python312",),
    ),
    Step(
        "repairs/fit",
        tuple(
            f"assay calibrate fit {{repairs/study}}/repairs/samples/{task}.jsonl --event {event} --features {','.join(FEATURES[task])} "
            f"{{tests_folds}} --out {{tree}}/calibration/shipped/{event}-{task}.json"
            for event, task in REPAIRS
        ),
        needs=("repairs/study",),
        code=(*_FITS, "offline_eval/repairs/samples.py"),
        makes=(*(f"calibration/shipped/{event}-{task}.json" for event, task in REPAIRS), FOLDS),
        minutes=0.5, because="a fit of some seconds",
    ),
    Step(
        "repository/run",
        (
            *(
                f"python benchmarks/repositories.py run --out {{self}} --sources {{shared}}/repositories --projects {projects} "
                f"--samples {samples} --minutes {{minutes}} --workers {{workers}} --python {{python312}}"
                for projects, samples in (("{suites}", "{samples}"), ("{quick_suites}", "{more_samples}"))
            ),
        ),
        code=("offline_eval/repository", "offline_eval/sets", "analysis/oracle", *_ASKED, "benchmarks/repositories.py"),
        minutes=120, because="3,100 places at two seconds by the median, and the suites' own runs", programs=("python312",),
    ),
    Step(
        "repository/tables",
        (
            "python benchmarks/repositories.py table --out {repository/run} > {self}/tables.md",
            f"python -m training.remake.pages.pasted {{tree}} docs/repository.md {{self}}/tables.md {','.join(TASKS)},block "
            "projects=Projects costs=Costs 'cross=Exact match against passing tests' "
            "'over-projects=Calibrators over projects, each project judged by a map of all others' "
            "\"own-samples=What a project's own samples bring\"",
        ),
        needs=("repository/run",),
        code=(*_FITS, "benchmarks/repositories.py"),
        makes=tuple(f"docs/repository.md#{block}" for block in ("projects", "costs", "cross", "over-projects", "own-samples")),
        minutes=8, because="1,600 fits of up to a second",
    ),
    Step(
        "validation/tables",
        (
            # Their reports are of the present code, whenever they were run.
            *(f"assay eval report {run}" for run in _STUDIES),
            # A later run replaces the figures of an earlier one, but for those that it lacks.
            "python -m training.remake.validated {tree} exact_match {tests_pass/catcode}/catcode {tests_pass/complete}/suites "
            "{exact_match/complete}/projects",
            "python -m training.remake.validated {tree} exact_match-alternatives {exact_match/complete_several}/alternatives",
            "python -m training.remake.validated {tree} tests_pass {tests_pass/counterfeit}/counterfeit "
            "{tests_pass/catcode}/catcode {tests_pass/arms}/suites_arms {tests_pass/complete}/suites",
            f"python -m training.remake.pages.validation {{tree}} {' '.join(_STUDIES)}",
        ),
        needs=(
            "exact_match/complete", "exact_match/complete_several", "exact_match/fit", "tests_pass/fit",
            "tests_pass/catcode", "tests_pass/complete", "tests_pass/counterfeit", "tests_pass/arms",
        ),
        code=(
            *_FITS, "calibration/report", "calibration/validation", "cli/calibrate/validation.py", "offline_eval/catcode",
            "offline_eval/counterfeit", "offline_eval/paper_tables",
            "training/remake/validated.py", *_pages("validation"),
        ),
        makes=(
            "calibration/shipped/validation",
            *(f"docs/validation.md#{block}" for block in (
                "claims", "claims-catcode", "claims-counterfeit", "primary", "shipped",
            )),
        ),
        minutes=6, because="six reports, and fifteen times some seconds of fits and resamples",
    ),
)  # fmt: skip
