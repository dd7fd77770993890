"""The steps: what is made of what, by which commands, and which blocks of the pages it fills."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from assay.offline_eval.repairs.candidates import FEATURES
from assay.offline_eval.sets.projects import measured_projects

from . import alternatives, any_model, calibrators, four_studies, results
from .calibrators import PER_PROJECT, TASKS, Folders

# The validation tables compare them. Calibrators are fitted to the first alone.
ARMS = "docstring,no_docstring,no_suffix"
# The projects whose tests take least.
QUICK = ("beautifulsoup4", "boltons", "cachetools", "intervaltree", "markdown", "marshmallow", "sqlparse", "toolz")

# Code that decides a result beside the model and the prompt, whose fingerprints stand for the rest.
_PLACES = ("offline_eval/calibration", "offline_eval/sets", "analysis/python", "calibration/measures", "inference/project_memory",
           "suggestion/memory")  # fmt: skip
_TESTED = (*_PLACES, "analysis/oracle")
_FITS = ("calibration/fitting", "calibration/maps", "calibration/measures", "calibration/metrics")


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Attributes
        name: GROUP/STEP.
        commands: of a shell, in the repository. $self is the step's own folder, $GROUP_STEP that of another; $python312 is found on the
            machine.
        minutes: about how long it takes on two quiet cores.
        needs: the steps whose results it reads.
        files: what it writes into the repository: files and folders; with a calibrator its folds.
        blocks: the blocks that it fills, PAGE#BLOCK, by functions of the folders of the steps and of "tree", the repository.
        code: what decides its result beside model, prompt and commands: files and folders of the repository.
        programs: what must be on the machine.
        tasks: what the blocks are about; none: all.
    """

    name: str
    commands: tuple[str, ...]
    minutes: float
    needs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    blocks: Mapping[str, Callable[[Folders], str]] = field(default_factory=dict)
    code: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = TASKS

    @property
    def group(self) -> str:
        """What stands before the slash."""
        return self.name.partition("/")[0]


def _each_task(command: str) -> tuple[str, ...]:
    return tuple(command.replace("TASK", task) for task in TASKS)


def _shipped(*names: str) -> tuple[str, ...]:
    return tuple(f"calibration/shipped/{name}.json" for name in names)


# Counterfeits, and rewrites for each task, of fresh projects.
_NAMES_OF_TEXTS = ("fresh-counterfeit", *(f"fresh-catcode-{task}" for task in TASKS))
_OF_TEXTS = ("offline_eval/counterfeit", "offline_eval/catcode", "analysis/bugs.py", "analysis/morphisms")
_FRESH_NEWER = "--code $fresh_runs/code/2/* --older $self/older"


def _of_texts(code: str, name: str, counterfeits: int, rewrites: tuple[int, int, int], model: str = "") -> tuple[str, ...]:
    """The commands of a model, with at most so many places of each project; of rewrites for each task."""
    return (
        f"assay eval counterfeit {model}{code} --tasks {','.join(TASKS)} --per-project {counterfeits} --out $self/fresh-counterfeit{name}",
        *(
            f"assay eval catcode {model}{code} --task {task} --per-project {places} --out $self/fresh-catcode-{task}{name}"
            for task, places in zip(TASKS, rewrites, strict=True)
        ),
    )


STEPS = (
    Step(
        "exact_match/complete",
        (f"assay eval calibration --out $self/projects --per-project {PER_PROJECT} --arms {ARMS} --workers 2",),
        minutes=22, code=_PLACES,
    ),
    Step(
        "exact_match/complete_several",
        (f"assay eval calibration --out $self/alternatives --per-project {PER_PROJECT} --alternatives 4 --workers 2",),
        minutes=16, code=_PLACES,
    ),
    Step(
        "exact_match/fit",
        (
            *_each_task(
                "assay calibrate fit $exact_match_complete/projects/samples/TASK.jsonl --event exact_match --features free --keep-folds "
                "--out calibration/shipped/exact_match-TASK.json"
            ),
            "python -m training.remake.alternatives $exact_match_complete_several/alternatives",
        ),
        minutes=2,
        needs=("exact_match/complete", "exact_match/complete_several"),
        files=_shipped(*(f"exact_match-{task}{of}" for task in TASKS for of in ("", "-alternatives"))),
        blocks={
            "docs/calibration.md#dial": calibrators.dial,
            "docs/calibration.md#between-projects": calibrators.between_projects,
            "docs/calibration.md#hidden": calibrators.hidden,
            "docs/calibration.md#alternatives-shipped": alternatives.are_shipped,
            "README.md#share": calibrators.share,
            "training/README.md#exact-match": calibrators.card,
        },
        code=(*_FITS, "training/remake/alternatives.py", "training/remake/calibrators.py"),
    ),
    Step(
        "exact_match/report",
        (
            *_each_task(
                "assay calibrate report $exact_match_complete/projects/samples/TASK.jsonl --event exact_match --features free "
                "--out $self/TASK"
            ),
            *_each_task("mkdir -p docs/calibration/TASK && cp $self/TASK/reliability-exact_match.svg docs/calibration/TASK"),
        ),
        minutes=0.5,
        needs=("exact_match/complete", "exact_match/fit"),
        files=_each_task("docs/calibration/TASK"),
        blocks={
            "docs/calibration.md#result": calibrators.exact_match,
            "docs/calibration.md#before-and-after": calibrators.before_and_after,
        },
        code=(*_FITS, "calibration/report", "training/remake/calibrators.py"),
    ),
    Step(
        "exact_match/languages",
        (
            "assay eval calibration --set packages --out $self/packages --per-project 60 --workers 2",
            *_each_task(
                "assay calibrate fit $self/packages/samples/TASK.jsonl --event exact_match --features free --levels language --keep-folds "
                "--out calibration/shipped/exact_match-TASK-languages.json"
            ),
        ),
        minutes=8,
        files=_shipped(*(f"exact_match-{task}-languages" for task in TASKS)),
        blocks={"docs/calibration.md#languages": calibrators.languages},
        code=(*_PLACES, *_FITS, "analysis/lines", "training/remake/calibrators.py"),
    ),
    Step(
        "models/any",
        (
            "python -m training.remake.newer_lines $self",
            *(
                f"assay eval calibration --out $self/{name} {model} {lines}"
                for name, (_, model, lines, _) in any_model.MODELS.items()
            ),
            *(
                f"assay eval calibration --set packages --out $self/{name}-packages {model} --per-project {places}"
                for name, (_, model, _, places) in any_model.MODELS.items()
            ),
            *_each_task(
                "assay calibrate fit $self/qwen05/samples/TASK.jsonl --event exact_match --features free --keep-folds "
                "--out calibration/shipped/exact_match-TASK-qwen2.5-coder-0.5b.json"
            ),
            "python -m training.remake.any_model $self qwen15 calibration/shipped/exact_match-TASK-qwen2.5-coder-1.5b.json",
            *_each_task(
                "assay calibrate fit --any-model --event exact_match --features total_logprob,length --map platt "
                f"{' '.join(f'$self/{name}{of}/samples/TASK.jsonl' for name in any_model.MODELS for of in ('', '-packages'))} "
                "--out calibration/shipped/exact_match-TASK-any.json"
            ),
        ),
        minutes=400,
        files=_shipped(*(f"exact_match-{task}-{of}" for task in TASKS for of in ("any", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"))),
        blocks={
            "docs/calibration.md#left-out": any_model.left_out,
            "docs/calibration.md#any-languages": any_model.languages,
            "docs/calibration.md#narrowing": any_model.narrowing,
        },
        code=(*_PLACES, *_FITS, "analysis/lines", "training/remake/any_model.py", "training/remake/newer_lines.py"),
    ),
    Step(
        "models/languages",
        (
            "assay eval report published/packages-qwen05.tar.xz --out $self/packages",
            *_each_task(
                "assay calibrate fit $self/packages/samples/TASK.jsonl --event exact_match --features free --levels language --keep-folds "
                "--out calibration/shipped/exact_match-TASK-languages-qwen2.5-coder-0.5b.json"
            ),
        ),
        minutes=2,
        files=_shipped(*(f"exact_match-{task}-languages-qwen2.5-coder-0.5b" for task in TASKS)),
        blocks={"docs/calibration.md#languages-qwen": partial(calibrators.languages, of="-qwen2.5-coder-0.5b")},
        code=(*_FITS, "published/packages-qwen05.tar.xz", "training/remake/calibrators.py"),
    ),
    Step(
        "models/four_studies",
        (
            *(f"assay eval report published/{run}.tar.xz --out $self/{run}" for run in four_studies.RUNS),
            "python -m training.remake.four_studies $self docs",
        ),
        minutes=2,
        files=("docs/four_studies-skills.svg", "docs/four_studies-shares.svg"),
        code=("training/remake/four_studies.py", *(f"published/{run}.tar.xz" for run in four_studies.RUNS)),
    ),
    Step(
        "models/kin",
        (
            "python -m training.remake.any_model $self",
            *(
                f"assay eval calibration --out $self/{name} --prompt-size small --model $self/{name}.gguf --per-project {places}"
                for name, (_, places) in any_model.KIN.items()
            ),
        ),
        minutes=30,
        needs=("models/any",),
        blocks={"docs/calibration.md#kin": any_model.kin},
        code=(*_PLACES, *_FITS, "training/remake/any_model.py"),
    ),
    Step(
        "recording/demo",
        ("assay demo > $self/demo.txt",),
        minutes=0.2,
        needs=("exact_match/fit",),
        blocks={"README.md#demo": results.demo},
        code=("examples", "cli/demo.py"),
        tasks=(),
    ),
    Step(
        "pictures/vscode",
        ("editors/vscode/e2e/draw-pictures editors/vscode/media",),
        minutes=2,
        needs=("exact_match/fit",),
        files=tuple(f"editors/vscode/media/{name}.png" for name in ("ghost", "dial", "panel")),
        code=("editors/vscode/e2e/pictures.ts", "editors/vscode/src"),
        programs=("npm",),
    ),
    Step(
        "tests_pass/complete",
        (
            "python -m training.remake.newer_lines $self",
            "assay eval calibration --out $self/suites --set suites --older $self/older --per-project 30 --workers 2 "
            "--python $python312",
        ),
        minutes=35, code=(*_TESTED, "training/remake/newer_lines.py"), programs=("python312",),
    ),
    Step(
        "tests_pass/arms",
        (
            f"assay eval calibration --out $self/suites_arms --set suites --per-project 20 --arms {ARMS} --workers 2 --python $python312",
        ),
        minutes=15, needs=("tests_pass/complete",), code=_TESTED, programs=("python312",),
    ),
    Step(
        "tests_pass/counterfeit",
        ("assay eval counterfeit --out $self/counterfeit --per-project 60 --workers 2 --python $python312",),
        minutes=80, needs=("tests_pass/complete",), code=(*_TESTED, "offline_eval/counterfeit"), programs=("python312",),
    ),
    Step(
        "tests_pass/catcode",
        ("assay eval catcode --out $self/catcode --per-project 40 --workers 2 --python $python312",),
        minutes=55, needs=("tests_pass/complete",), programs=("python312",),
        code=(*_TESTED, "analysis/bugs.py", "analysis/morphisms", "offline_eval/catcode"),
    ),
    Step(
        "tests_pass/fit",
        # A map that can be moved toward a project's own samples, which is what these maps are for.
        _each_task(
            "assay calibrate fit $tests_pass_complete/suites/samples/TASK.jsonl --event tests_pass --features free --map platt "
            "--keep-folds --out calibration/shipped/tests_pass-TASK.json"
        ),
        minutes=0.5,
        needs=("tests_pass/complete",),
        files=_shipped(*(f"tests_pass-{task}" for task in TASKS)),
        blocks={"docs/calibration.md#tests-pass": partial(calibrators.worth, event="tests_pass")},
        code=_FITS,
    ),
    Step(
        "models/tests_pass",
        # Whole lines have no calibrator: no skill is shown.
        (
            "assay eval calibration --model qwen2.5-coder-0.5b --set suites --older $tests_pass_complete/older --per-project 15 "
            "--workers 2 --python $python312 --out $self/suites",
            *(
                f"assay calibrate fit $self/suites/samples/{task}.jsonl --event tests_pass --features free --map platt --keep-folds "
                f"--out calibration/shipped/tests_pass-{task}-qwen2.5-coder-0.5b.json"
                for task in ("line_rest", "line_middle")
            ),
        ),
        minutes=90,
        needs=("tests_pass/complete",),
        files=_shipped(*(f"tests_pass-{task}-qwen2.5-coder-0.5b" for task in ("line_rest", "line_middle"))),
        code=(*_TESTED, *_FITS),
        programs=("python312",),
    ),
    Step(
        "repairs/study",
        ("assay eval repairs --out $self/repairs --per-project 8 --workers 2 --python $python312",),
        minutes=40, needs=("tests_pass/complete",), programs=("python312",),
        code=(*_TESTED, "analysis/bugs.py", "analysis/morphisms", "analysis/repairs", "offline_eval/repairs", "suggestion/repair"),
    ),
    Step(
        "repairs/fit",
        # Of where a bug is. Those of repairs are not shipped: they hold for bugs by rules alone (docs/studies.md).
        (
            f"assay calibrate fit $repairs_study/repairs/samples/fault.jsonl --event exact_match --features {','.join(FEATURES['fault'])} "
            "--keep-folds --out calibration/shipped/exact_match-fault.json",
        ),
        minutes=0.5, needs=("repairs/study",), files=_shipped("exact_match-fault"), code=_FITS,
    ),
    Step(
        "repository/run",
        (
            "sources=${XDG_CACHE_HOME:-$HOME/.cache}/assay/suites/sources; mkdir -p $self/sources",
            # A copy, into which the calibrators are written.
            *(
                f"[ -d $self/sources/{project.name} ] || cp -r $sources/{project.name}-{project.version}/{project.name} $self/sources/\n"
                f"assay calibrate repo $self/sources/{project.name} --samples 240 --minutes 30 --make-environment --python $python312 "
                f"--workers 2 --out $self/runs/{project.name}"
                for project in measured_projects()
                if project.name in QUICK
            ),
        ),
        minutes=150, needs=("tests_pass/complete",), blocks={"docs/repository.md#projects": results.repositories},
        code=(*_TESTED, "offline_eval/repository"), programs=("python312",), tasks=(*TASKS, "block"),
    ),
    Step(
        "fresh/runs",
        # Projects that no fit has seen: each is run once for a calibrator. One that was fitted again needs others in fresh.toml.
        (
            "python -m training.remake.fresh $self/code",
            f"assay eval calibration --code $self/code/1/* --languages python --out $self/fresh --per-project 40 --arms {ARMS} --workers 2",
            "assay eval calibration --code $self/code/1/* --languages python --out $self/fresh-alternatives --per-project 40 "
            "--alternatives 4 --workers 2",
            *_of_texts("--code $self/code/1/*", "", 12, (12, 6, 6)),
        ),
        minutes=60, code=(*_PLACES, *_OF_TEXTS, "calibration/validation/fresh.toml"),
    ),
    Step(
        "fresh/qwen",
        (
            "python -m training.remake.newer_lines $self/older $fresh_runs/code/2",
            *(
                f"assay eval calibration --model qwen2.5-coder-{size}b {_FRESH_NEWER} --languages python --per-project 6 "
                f"--out $self/fresh-{name}"
                for name, size in (("qwen05", "0.5"), ("qwen15", "1.5"))
            ),
            *_of_texts(_FRESH_NEWER, "-qwen05", 3, (1, 1, 1), "--model qwen2.5-coder-0.5b "),
        ),
        minutes=150, needs=("fresh/runs",),
        code=(*_PLACES, *_OF_TEXTS, "calibration/validation/fresh.toml", "training/remake/newer_lines.py"),
    ),
    Step(
        "validation/tables",
        (
            "mkdir -p $self/runs",
            *(
                f"ln -sfn {run} $self/runs/ && assay eval report {run}"
                for run in (
                    "$fresh_runs/fresh", "$fresh_runs/fresh-alternatives", "$fresh_qwen/fresh-qwen05",
                    "$fresh_qwen/fresh-qwen15",
                    *(f"$fresh_runs/{name}" for name in _NAMES_OF_TEXTS), *(f"$fresh_qwen/{name}-qwen05" for name in _NAMES_OF_TEXTS),
                    "$exact_match_complete/projects", "$exact_match_complete_several/alternatives",
                    "$tests_pass_complete/suites", "$tests_pass_arms/suites_arms", "$tests_pass_counterfeit/counterfeit",
                    "$tests_pass_catcode/catcode",
                )
            ),
            "assay calibrate validate --all $self/runs --calibrators calibration/shipped",
        ),
        minutes=6,
        needs=(
            "exact_match/complete", "exact_match/complete_several", "exact_match/fit", "tests_pass/fit", "fresh/runs", "fresh/qwen",
            "tests_pass/complete", "tests_pass/arms", "tests_pass/counterfeit", "tests_pass/catcode",
        ),
        files=("calibration/shipped/validation",),
        blocks={
            "docs/validation.md#primary": results.primary,
            "docs/validation.md#claims": results.claims,
            "docs/validation.md#claims-counterfeit": partial(results.claims_of_lines, step="tests_pass/counterfeit", run="counterfeit"),
            "docs/validation.md#claims-catcode": partial(results.claims_of_lines, step="tests_pass/catcode", run="catcode"),
        },
        code=(*_FITS, "calibration/report", "calibration/validation", "offline_eval/paper_tables"),
    ),
)  # fmt: skip
