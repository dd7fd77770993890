"""The table of settings. Each row has a setting's name, its values, its default and its description for people.

This is the only place that names them: the parser, docs/settings.md and the VS Code extension are written from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ...calibration.bands import BOUNDARIES
from ...calibration.log.event_log import DAYS, MEGABYTES
from ...calibration.samples import EVENTS
from ...inference.completion.prompt_size import SizeChoice
from ...inference.model import KVType
from ...inference.opening import MAX_THREADS
from ...suggestion.memory.scope import DEFAULT_SCOPE, SCOPES
from .values import Values, file, folders, key_files, number, one_of, or_word, place, quoted, switch, text, texts, whole

Wanted = Literal["auto", "line", "block", "function"]
Plain = Literal["auto", "on", "off"]
ShowAbove = float | Literal["auto", "quiet"]

# More than the context of any model, and within the 32-bit integers of the runtimes.
_MAX_TOKENS = 1 << 24
# People write 999 and 99999 for "all".
_MAX_LAYERS = 1_000_000
# A century, and a terabyte.
_MAX_DAYS = 36_500
_MAX_MEGABYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the table.

    name: as editors write it after `assay.`; default: as JSON; unset: what null stands for, in words; reloads: a change loads the model
    again; user_only: it decides where code or logs go, so it is never read from the settings of an opened project.
    """

    name: str
    values: Values
    default: Any
    description: str
    unset: str = ""
    reloads: bool = False
    user_only: bool = False

    def read(self, value: Any) -> Any:
        """Parse a value from JSON; null gives the default. Raises ValueError as `Values.read` does."""
        value = self.default if value is None else value
        return None if value is None else self.values.read(value)

    @property
    def default_words(self) -> str:
        """The default, in words."""
        return self.unset or quoted(self.default)

    @property
    def field(self) -> str:
        """The field of `LiveSettings` that holds it."""
        group = self.name.partition(".")[0]
        name = group if group in ("modelOptions", "bands") else self.name.replace(".", "_")
        return re.sub(r"[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def _model_option(name: str, values: Values, unset: str, description: str) -> Setting:
    return Setting(f"modelOptions.{name}", values, None, description, unset, reloads=True, user_only=True)


def _budget(name: str, minimum: int, what: str) -> Setting:
    description = f"{what} With a value of your own, suggestions show no probability, because no calibrator was fitted with it."
    return Setting(f"context.{name}", whole(minimum, _MAX_TOKENS, "tokens"), None, description, "as `assay.context.size` says")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "model",
        place("a .gguf file, a folder, a name of `assay model list` or the http(s):// address of a server"),
        None,
        "The model that writes the suggestions. If it is the address of a server, the code around the cursor is sent there.",
        "the model of `assay serve --model`, or else the one that comes with Assay",
        reloads=True,
        user_only=True,
    ),
    Setting(
        "modelFolders",
        folders('a list of folders, such as ["~/models"]'),
        (),
        "Folders with models of yours. A model is chosen from these, and from where other programs keep theirs.",
        user_only=True,
    ),
    _model_option(
        "context",
        whole(1, _MAX_TOKENS, "tokens"),
        "the model's own size, but at most 4,096",
        "The size of the model's context: prompt and answer together. Memory for all of it is reserved at the start.",
    ),
    _model_option(
        "threads",
        or_word("auto", whole(1, MAX_THREADS)),
        "`auto`",
        "How many CPU threads run a GGUF model. `auto` means as many as are fastest beside what else the machine does, at most one for "
        "each core, found out while the model works.",
    ),
    _model_option(
        "gpuLayers",
        or_word("auto", whole(0, _MAX_LAYERS)),
        "all, if llama.cpp was built for a GPU",
        "How many layers of a GGUF model run on the GPU. `auto`, or a number larger than the model has, means all.",
    ),
    _model_option(
        "kvCache",
        one_of(*get_args(KVType)),
        "f16",
        "The number format of a GGUF model's cache. `q8_0` and `q4_0` save memory but change what the model writes, so calibrators "
        "that were fitted without them are not used.",
    ),
    _model_option(
        "flashAttention",
        switch(),
        "off on processors, llama.cpp's choice on a GPU",
        "Whether a GGUF model runs with flash attention. A cache of `q8_0` or `q4_0` needs it and turns it on.",
    ),
    _model_option("chunk", whole(1, _MAX_TOKENS, "tokens"), "128", "How many tokens of a prompt a GGUF model reads in one step."),
    _model_option(
        "shift",
        whole(1, _MAX_TOKENS, "tokens"),
        "never",
        "The shortest run of cached tokens that is reused at a new position in the prompt. Reuse makes a large GGUF model faster, but "
        "suggestions made with it show no probability.",
    ),
    _model_option(
        "device",
        text('the name of a torch device, such as "cuda"'),
        "cuda if there is one, else mps, else cpu",
        "The device that runs a model from a folder (Hugging Face format).",
    ),
    _model_option(
        "dtype",
        text('the name of a torch type, such as "bfloat16"'),
        "chosen for the device",
        "The number format in which a model from a folder computes.",
    ),
    _model_option("serverModel", text("the name of a model"), "the server's only model", "Which model of a server is used."),
    _model_option(
        "keyFile",
        key_files('the path of a file, or files by address, such as {"https://gpu.example": "~/gpu.key"}'),
        "the environment variable `ASSAY_API_KEY`, for the first server that is named",
        "The file that holds the API key of a server, which no other server gets. A path alone is for the first server that is named: that "
        "of `assay.model`, else of `assay.repair.instruct`.",
    ),
    Setting(
        "event",
        one_of(*EVENTS),
        "exact_match",
        "What the probability is about: that the suggestion is exactly what you would write (`exact_match`), that the tests pass with it "
        "(`tests_pass`), or that you keep it (`kept`).",
    ),
    Setting(
        "kind",
        one_of(*get_args(Wanted)),
        "auto",
        "How much is suggested: the rest of a line, a block or a whole function. `auto` decides by the place of the cursor, and suggests "
        "a line where there is a calibrator only for lines.",
    ),
    Setting(
        "automatic",
        switch(),
        True,
        "Whether suggestions appear while you type. If false, they come only when you ask for them. This does not concern the "
        "completion menu (`assay.plainCompletion`): the editor alone decides when to open it.",
    ),
    Setting(
        "delay",
        or_word("adaptive", number(0, 5000, "milliseconds")),
        "adaptive",
        "The debounce: how long to wait after a keystroke before the model is asked. `adaptive` waits 5 ms, and longer if the model is "
        "slower than your typing or if you dismissed suggestions. Suggestions that you ask for, or that are ready, never wait.",
    ),
    Setting("inComments", switch(), True, "Whether suggestions appear while you type in comments."),
    Setting("inStrings", switch(), True, "Whether suggestions appear while you type in string literals."),
    Setting(
        "disabledLanguages",
        texts('a list of languages, such as ["markdown", "plaintext"]', "a language"),
        (),
        "Languages in which nothing is suggested, by the editor's language identifiers.",
    ),
    Setting(
        "showAbove",
        or_word("auto", number(0, 1), "quiet"),
        "auto",
        "The dial: which suggestions come by themselves. `auto` (balanced) shows those of which at least one in two is right, by the "
        "evidence of each calibrator and then by what you kept; `quiet`, at least three in four. This is counted at places of held-out "
        "code: while you type, wrong ones come and go, and of distinct ones not quite so many are right (docs/dial.md). A number hides "
        "those with a lower probability; 0 hides none (everything). What you ask for is always shown.",
    ),
    Setting(
        "showUncalibrated",
        switch(),
        True,
        "Whether suggestions without a probability are shown. They have none where no calibrator applies.",
    ),
    Setting(
        "showRefuted",
        switch(),
        False,
        "Whether a probability is shown although a study refutes a primary figure of its calibrator. If false, such a suggestion shows no "
        "probability, and its explanation says which study found what.",
    ),
    Setting(
        "bands.likelyFrom",
        number(0, 1),
        BOUNDARIES.likely_from,
        "The probability from which a suggestion is called likely. It must be above `assay.bands.possibleFrom`.",
    ),
    Setting(
        "bands.possibleFrom",
        number(0, 1),
        BOUNDARIES.possible_from,
        "The probability from which a suggestion is called possible. Below it, a suggestion is called unlikely. It must be above 0.",
    ),
    Setting(
        "alternatives",
        whole(1, 8),
        4,
        "How many different suggestions you get when you ask for them. The second and later ones have a probability only if a calibrator "
        "was fitted with the same number of alternatives: Assay's own for several suggestions were fitted with 4.",
    ),
    Setting(
        "context.size",
        one_of(*get_args(SizeChoice)),
        "auto",
        "How much the model sees: `small` (320 tokens of the file before the cursor and 160 after it), `normal` (560 and 240) or "
        "`large` (2,048 and 512, and 1,024 of other open files if the model was trained on whole repositories). `auto` is the largest "
        "that the model reads in 1.5 seconds on this machine, without other files, and `normal` for a server's. With another one, "
        "suggestions show no probability until a calibrator is fitted with it, and never beside other files.",
    ),
    _budget("prefixTokens", 1, "How much of the file before the cursor the model sees."),
    _budget("suffixTokens", 0, "How much of the file after the cursor the model sees."),
    _budget(
        "headTokens",
        0,
        "How much of the beginning of the file, where the imports are, the model sees when the file is too long to be shown whole.",
    ),
    Setting(
        "context.openFiles",
        whole(0, _MAX_TOKENS, "tokens"),
        None,
        "How much of other open files the model sees. With a value of your own, suggestions show no probability, because no calibrator was "
        "fitted with it.",
        "as `assay.context.size` says",
    ),
    Setting(
        "memory",
        one_of(*SCOPES),
        DEFAULT_SCOPE,
        "Which of your files are read for what comes next, besides what the model is shown: the open file and the other files of its "
        "workspace folder (`project`), the open file alone (`file`), or none (`off`). What is read stays in memory. Files with secrets, "
        "and those that git ignores, are not read. With `off`, suggestions show no probability until a calibrator is fitted with it.",
    ),
    Setting(
        "maxMs",
        number(50, 60_000, "milliseconds"),
        10_000,
        "The timeout of a request: waiting for the model to load, waiting in the queue, and generating. `assay.delay` is not counted. "
        "The model stops writing when nine tenths of this time are over.",
    ),
    Setting(
        "remember",
        switch(),
        True,
        "Whether a suggestion is reused while you type along it, delete some of it or undo. If false, the model is asked at every "
        "keystroke.",
    ),
    Setting(
        "speculate",
        switch(),
        True,
        "Whether the model, while idle, prepares suggestions that may be asked for next: where the cursor rests, after an accepted "
        "suggestion, and for other words than the suggested ones.",
    ),
    Setting(
        "plainCompletion",
        one_of(*get_args(Plain)),
        "auto",
        "Whether suggestions are listed in the ordinary completion menu. `auto` means: only in editors without inline completion. Some "
        "editors read this only at their start, from initializationOptions.",
    ),
    Setting(
        "repair.enabled",
        switch(),
        True,
        "Whether code actions offer to repair lines. Nothing is computed until one is chosen.",
    ),
    Setting(
        "repair.maxMs",
        number(100, 600_000, "milliseconds"),
        10_000,
        "The timeout of a repair. What was found by then is offered. Completions go first meanwhile, and their time counts.",
    ),
    Setting("repair.candidates", whole(1, 20), 5, "How many repairs of a line or block are offered."),
    Setting(
        "repair.instruct",
        place("the http(s):// address of a server"),
        None,
        "The server of an instruct model that is asked for repairs as well. The code around the lines is sent there, and what another tool "
        "says is wrong with them. An answer of it is waited for until `assay.repair.maxMs` is over.",
        "no instruct model is asked",
        user_only=True,
    ),
    Setting(
        "log.events",
        switch(),
        True,
        "Whether to log on this machine what became of each suggestion, without code and paths. Calibrators are fitted from this log.",
        user_only=True,
    ),
    Setting(
        "log.path",
        file("the path of a file"),
        None,
        "The file of the log. Its folder must exist.",
        "`events.sqlite3` in the user's data folder",
        user_only=True,
    ),
    Setting(
        "log.text",
        switch(),
        False,
        "Whether the log also has the code of suggestions, and the code that is in its place later.",
        user_only=True,
    ),
    Setting(
        "log.days",
        whole(1, _MAX_DAYS, "days"),
        DAYS,
        "How long events are kept. Older ones are removed at the start and every hour.",
        user_only=True,
    ),
    Setting(
        "log.megabytes",
        whole(1, _MAX_MEGABYTES, "MiB"),
        MEGABYTES,
        "How much disk space the log may take. The oldest events are removed first.",
        user_only=True,
    ),
    Setting(
        "explore",
        number(0, 0.1),
        0.01,
        "The share of suggestions hidden by `assay.showAbove` that are shown all the same, chosen at random, so that calibrators and the "
        "dial can learn about them. Only while `assay.log.events` is true.",
    ),
    Setting(
        "repair.verify",
        switch(),
        True,
        "Whether repairs are checked by the tests of the project that touch the changed lines. They run in a sandbox, on a copy, and only "
        "after you said yes for this project. Repairs that break a test, or mend none of those that fail, are then left out.",
    ),
    Setting(
        "tests.afterAcceptance",
        switch(),
        False,
        "Whether the tests that touch an accepted suggestion are run in the background, in the same way. The status says whether they "
        "pass, and the log learns from it what `tests_pass` is about.",
    ),
    Setting(
        "tests.python",
        file("the path of a Python"),
        None,
        "The Python that runs the tests of projects. It needs pytest, and what the project needs.",
        "that of the activated environment, else of the project's `.venv`, of poetry's or uv's, or the one that runs Assay",
        user_only=True,
    ),
    Setting("diagnostics", switch(), False, "Whether `assay/status` reports the latency of the server's event loop."),
)
