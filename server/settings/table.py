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
from ...inference.model import KVType
from ...inference.opening import MAX_THREADS
from ...inference.prompt_size import SizeChoice
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
    description = f"{what} With a value of your own numbers are borrowed."
    return Setting(f"context.{name}", whole(minimum, _MAX_TOKENS, "tokens"), None, description, "as `assay.context.size` says")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "model",
        place("a .gguf file, a folder, a name of `assay model list` or the http(s):// address of a server"),
        None,
        "The model that writes the suggestions. A server gets the code around the cursor.",
        "the model of `assay serve --model`, or else the one that comes with Assay",
        reloads=True,
        user_only=True,
    ),
    Setting(
        "modelFolders",
        folders('a list of folders, such as ["~/models"]'),
        (),
        "Folders with your models. The list of models has these and what other programs keep.",
        user_only=True,
    ),
    _model_option(
        "context",
        whole(1, _MAX_TOKENS, "tokens"),
        "the model's own size, but at most 4,096",
        "Tokens of prompt and answer together. Memory for all of them is reserved at the start.",
    ),
    _model_option(
        "threads",
        or_word("auto", whole(1, MAX_THREADS)),
        "`auto`",
        "CPU threads of a GGUF model. `auto` finds the fastest number while the model works, at most one for each core.",
    ),
    _model_option(
        "gpuLayers",
        or_word("auto", whole(0, _MAX_LAYERS)),
        "all, if llama.cpp was built for a GPU",
        "Layers of a GGUF model on the GPU. `auto`, or more than the model has, means all.",
    ),
    _model_option(
        "kvCache",
        one_of(*get_args(KVType)),
        "f16",
        "The number format of a GGUF model's cache. `q8_0` and `q4_0` save memory but change what the model writes, so calibrators "
        "fitted without them do not apply.",
    ),
    _model_option(
        "flashAttention",
        switch(),
        "off on processors, llama.cpp's choice on a GPU",
        "Whether a GGUF model runs with flash attention. A cache of `q8_0` or `q4_0` turns it on.",
    ),
    _model_option("chunk", whole(1, _MAX_TOKENS, "tokens"), "128", "Tokens of a prompt that a GGUF model reads in one step."),
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
        "The number format of a model from a folder.",
    ),
    _model_option("serverModel", text("the name of a model"), "the server's only model", "The model of a server."),
    _model_option(
        "keyFile",
        key_files('the path of a file, or files by address, such as {"https://gpu.example": "~/gpu.key"}'),
        "the environment variable `ASSAY_API_KEY`, for the first server that is named",
        "The file with a server's API key, which no other server gets. A path alone is for the first server: that of `assay.model`, "
        "else of `assay.repair.instruct`.",
    ),
    Setting(
        "event",
        one_of(*EVENTS),
        "exact_match",
        "What the probability is about: the suggestion is exactly what you would write (`exact_match`), the tests pass with it "
        "(`tests_pass`), or you keep it (`kept`).",
    ),
    Setting(
        "kind",
        one_of(*get_args(Wanted)),
        "auto",
        "How much is suggested: the rest of a line, a block or a function. `auto` goes by the cursor's place, and suggests a line "
        "where only lines have a calibrator.",
    ),
    Setting(
        "automatic",
        switch(),
        True,
        "Whether suggestions appear while you type. If false, they come only when you ask. The editor alone decides when to open the "
        "completion menu (`assay.plainCompletion`).",
    ),
    Setting(
        "delay",
        or_word("adaptive", number(0, 5000, "milliseconds")),
        "adaptive",
        "The wait after a keystroke before the model is asked. `adaptive` is 5 ms, and longer if the model is slower than your typing "
        "or you dismiss suggestions. What you ask for, or what is ready, never waits.",
    ),
    Setting("inComments", switch(), True, "Whether suggestions appear while you type in comments."),
    Setting("inStrings", switch(), True, "Whether suggestions appear while you type in string literals."),
    Setting(
        "disabledLanguages",
        texts('a list of languages, such as ["markdown", "plaintext"]', "a language"),
        (),
        "Languages without suggestions, by the editor's identifiers.",
    ),
    Setting(
        "showAbove",
        or_word("auto", number(0, 1), "quiet"),
        "auto",
        "The dial: which suggestions come by themselves. `auto` (balanced) shows those of which at least one in two is right, `quiet` "
        "at least three in four, by the calibrator's evidence and what you kept. Fewer of the distinct ones that you see while typing "
        "are right (docs/dial.md). A number hides lower probabilities; 0 hides nothing (everything). What you ask for is always "
        "shown.",
    ),
    Setting(
        "showUncalibrated",
        switch(),
        True,
        "Whether suggestions without a probability are shown, because no calibrator applies.",
    ),
    Setting(
        "showRefuted",
        switch(),
        False,
        "Whether a probability is shown although a study refutes a primary figure of its calibrator. The explanation names the study.",
    ),
    Setting(
        "bands.likelyFrom",
        number(0, 1),
        BOUNDARIES.likely_from,
        "The probability from which a suggestion is likely. Must be above `assay.bands.possibleFrom`.",
    ),
    Setting(
        "bands.possibleFrom",
        number(0, 1),
        BOUNDARIES.possible_from,
        "The probability from which a suggestion is possible, and below which it is unlikely. Must be above 0.",
    ),
    Setting(
        "alternatives",
        whole(1, 8),
        4,
        "How many suggestions you get when you ask. The second and later ones have a probability only if a calibrator was fitted with "
        "the same number, as Assay's own were with 4.",
    ),
    Setting(
        "context.size",
        one_of(*get_args(SizeChoice)),
        "auto",
        "How much the model sees: `small` (320 tokens of the file before the cursor, 160 after it), `normal` (560 and 240) or `large` "
        "(2,048 and 512, and 1,024 of other open files if the model was trained on whole repositories). `auto` is the largest that "
        "the model reads in 1.5 seconds, without other files; `normal` for a server. With any other size, and beside other "
        "files, numbers are borrowed until a calibrator is fitted with it.",
    ),
    _budget("prefixTokens", 1, "Tokens of the file before the cursor that the model sees."),
    _budget("suffixTokens", 0, "Tokens of the file after the cursor that the model sees."),
    _budget(
        "headTokens",
        0,
        "Tokens of the file's beginning, with the imports, that the model sees of a file too long to be shown whole.",
    ),
    Setting(
        "context.openFiles",
        whole(0, _MAX_TOKENS, "tokens"),
        None,
        "Tokens of other open files that the model sees. With a value of your own numbers are borrowed.",
        "as `assay.context.size` says",
    ),
    Setting(
        "memory",
        one_of(*SCOPES),
        DEFAULT_SCOPE,
        "Which of your files the project memory reads: the open file and its workspace folder (`project`), the open file alone "
        "(`file`), or none (`off`). It stays in memory, and leaves out files with secrets and those that git ignores. With "
        "`off` numbers are borrowed until a calibrator is fitted with it.",
    ),
    Setting(
        "maxMs",
        number(50, 60_000, "milliseconds"),
        10_000,
        "The timeout of a request, from loading the model to the answer, without `assay.delay`. The model stops writing after nine "
        "tenths of it.",
    ),
    Setting(
        "remember",
        switch(),
        True,
        "Whether a suggestion is reused while you type along it, delete some of it or undo. If false, every keystroke asks the model.",
    ),
    Setting(
        "speculate",
        switch(),
        True,
        "Whether the idle model prepares what may come next: where the cursor rests, after an acceptance, and for other words than "
        "suggested.",
    ),
    Setting(
        "plainCompletion",
        one_of(*get_args(Plain)),
        "auto",
        "Whether suggestions are in the ordinary completion menu. `auto`: only in editors without inline completion. Some editors "
        "read this only at their start, from initializationOptions.",
    ),
    Setting(
        "repair.enabled",
        switch(),
        True,
        "Whether code actions offer repairs. Nothing is computed until you choose one.",
    ),
    Setting(
        "repair.maxMs",
        number(100, 600_000, "milliseconds"),
        10_000,
        "The timeout of a repair. What is found by then is offered. Completions go first, and their time counts.",
    ),
    Setting("repair.candidates", whole(1, 20), 5, "How many repairs of a line or block are offered."),
    Setting(
        "repair.instruct",
        place("the http(s):// address of a server"),
        None,
        "The server of an instruct model for repairs. It gets the function around the lines and what other tools report there, and may "
        "take until `assay.repair.maxMs`.",
        "`assay.model` itself is asked, if it is a file of this machine with a chat template",
        user_only=True,
    ),
    Setting(
        "log.events",
        switch(),
        True,
        "Whether Assay logs on this machine what became of suggestions, without code and paths. Calibrators are fitted from this log.",
        user_only=True,
    ),
    Setting(
        "log.path",
        file("the path of a file"),
        None,
        "The file of the log, in an existing folder.",
        "`events.sqlite3` in the user's data folder",
        user_only=True,
    ),
    Setting(
        "log.text",
        switch(),
        False,
        "Whether the log also has the suggestions' code, and the code that stands there later.",
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
        "The log's largest size. The oldest events go first.",
        user_only=True,
    ),
    Setting(
        "explore",
        number(0, 0.1),
        0.01,
        "The share of suggestions hidden by `assay.showAbove` that are shown at random, so that calibrators and the dial learn about "
        "them. Only while `assay.log.events` is true.",
    ),
    Setting(
        "repair.verify",
        switch(),
        True,
        "Whether the project's tests that touch the lines check repairs, in a sandbox, on a copy, after you said yes for this "
        "project. Repairs that break a test, or mend no failing one, are left out.",
    ),
    Setting(
        "tests.afterAcceptance",
        switch(),
        False,
        "Whether the tests that touch an accepted suggestion run in the background, in the same way. The status and the log "
        "(`tests_pass`) get the result.",
    ),
    Setting(
        "tests.python",
        file("the path of a Python"),
        None,
        "The Python that runs the tests of projects. It needs pytest and what the project needs.",
        "that of the activated environment, else of the project's `.venv`, of poetry's or uv's, or the one that runs Assay",
        user_only=True,
    ),
    Setting("diagnostics", switch(), False, "Whether `assay/status` reports the latency of the server's event loop."),
)
