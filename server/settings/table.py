"""The table of what a user may set in the editor: one row for each setting, and nowhere else a name, a default or a limit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ...calibration.bands import BOUNDARIES
from ...calibration.log.event_log import DAYS, MEGABYTES
from ...calibration.samples import EVENTS
from ...inference.model import KVType
from .values import Values, file, number, one_of, or_word, place, shown, switch, text, texts, whole

Wanted = Literal["auto", "line", "block", "function"]
Plain = Literal["auto", "on", "off"]

# More than any model's context has, and few enough for the 32-bit numbers of the runtimes.
_MOST_TOKENS = 1 << 24
# ggml's mask of threads and cores has no more places: GGML_MAX_N_THREADS in ggml.h.
_MOST_THREADS = 512
# People write 999 and 99999 for "all".
_MOST_LAYERS = 1_000_000
# A century, and a terabyte.
_MOST_DAYS = 36_500
_MOST_MEGABYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the table.

    name: as editors write it behind `assay.`; default: as JSON; unset: what a default of null comes to; reloads: a change of it opens the
    model again; own: it decides where code or logs go, so that the settings of an opened project must have no say in it.
    """

    name: str
    values: Values
    default: Any
    description: str
    unset: str = ""
    reloads: bool = False
    own: bool = False

    def read(self, value: Any) -> Any:
        """The typed value of what JSON gave, of the default where that is null. Raises ValueError as `Values.read`."""
        value = self.default if value is None else value
        return None if value is None else self.values.read(value)

    @property
    def default_words(self) -> str:
        """The default for people."""
        return self.unset or shown(self.default)

    @property
    def field(self) -> str:
        """The field of LiveSettings that holds it."""
        group = self.name.partition(".")[0]
        name = group if group in ("modelOptions", "bands") else self.name.replace(".", "_")
        return re.sub(r"[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def _model_option(name: str, values: Values, unset: str, description: str) -> Setting:
    return Setting(f"modelOptions.{name}", values, None, description, unset, reloads=True, own=True)


def _budget(name: str, least: int, what: str) -> Setting:
    description = f"{what} A value of your own makes suggestions uncalibrated: they have no number."
    return Setting(
        f"context.{name}", whole(least, _MOST_TOKENS, "tokens"), None, description, "what the model's calibrators were fitted with"
    )


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "model",
        place("a .gguf file, a folder or the http(s):// address of a server"),
        None,
        "The model that writes the suggestions. With the address of a server, the code around the cursor is sent there.",
        "the one of `assay serve --model`, else the embedded one",
        reloads=True,
        own=True,
    ),
    _model_option(
        "context",
        whole(1, _MOST_TOKENS, "tokens"),
        "the model's own, at most 4,096",
        "What prompt and answer may have together; memory is taken for all of it from the start.",
    ),
    _model_option(
        "threads", whole(1, _MOST_THREADS), "one for each core that the server may use", "Threads of the processor that run a GGUF file."
    ),
    _model_option(
        "gpuLayers",
        or_word("auto", whole(0, _MOST_LAYERS)),
        "all, where llama.cpp was built for a GPU",
        "How many layers of a GGUF file run on the GPU; `auto` and any number above the model's own mean all.",
    ),
    _model_option(
        "kvCache",
        one_of(*get_args(KVType)),
        "f16",
        "The numbers that a GGUF file's cache is made of. `q8_0` and `q4_0` save memory and change what the model writes: calibrators "
        "fitted without them are not used.",
    ),
    _model_option(
        "flashAttention",
        switch(),
        "llama.cpp's choice",
        "Whether a GGUF file runs with flash attention, which a cache of `q8_0` or `q4_0` needs.",
    ),
    _model_option("chunk", whole(1, _MOST_TOKENS, "tokens"), "128", "How much of a prompt a GGUF file decodes at once."),
    _model_option(
        "shift",
        whole(1, _MOST_TOKENS, "tokens"),
        "never",
        "Runs of at least so many tokens are reused at new positions: sooner with a large GGUF file, but suggestions made from them have "
        "no number.",
    ),
    _model_option(
        "device", text('torch\'s name of a device, such as "cuda"'), "cuda, else mps, else cpu", "What runs a model that is a folder."
    ),
    _model_option(
        "dtype",
        text('torch\'s name of a type, such as "bfloat16"'),
        "chosen for the device",
        "The numbers that a model that is a folder computes with.",
    ),
    _model_option("serverModel", text("the name of a model"), "its only one", "Which of a server's models is asked."),
    _model_option(
        "keyFile", place("the path of a file"), "the environment's `ASSAY_API_KEY`", "The file that holds the key of a model's server."
    ),
    Setting(
        "event",
        one_of(*EVENTS),
        "exact_match",
        "What the probability is about: that the suggestion is just what you would write, that the tests pass with it, or that it is kept.",
    ),
    Setting(
        "kind",
        one_of(*get_args(Wanted)),
        "auto",
        "What is suggested: the rest of a line, a block or a whole function; `auto` goes by where the cursor stands, and is a line where "
        "only lines have a calibrator.",
    ),
    Setting(
        "automatic",
        switch(),
        True,
        "Whether suggestions come without being asked for; otherwise only when they are invoked. The ordinary list of completions is no "
        "matter of it: when that comes the editor alone decides (`assay.plainCompletion`).",
    ),
    Setting(
        "delay",
        or_word("adaptive", number(0, 5000, "milliseconds")),
        "adaptive",
        "How long after a keystroke the model is asked; `adaptive` waits 5 ms, longer where the model is slower than the typing and where "
        "suggestions were dismissed. What is invoked or at hand never waits.",
    ),
    Setting("inComments", switch(), True, "Whether suggestions come without being asked for in comments."),
    Setting("inStrings", switch(), True, "Whether suggestions come without being asked for in string literals."),
    Setting(
        "disabledLanguages",
        texts('a list of languages, such as ["markdown", "plaintext"]', "a language"),
        (),
        "The languages in which nothing is suggested, by the identifiers that editors give them.",
    ),
    Setting("showAbove", number(0, 1), 0, "Suggestions whose probability is lower are hidden; 0 hides none."),
    Setting("showUncalibrated", switch(), True, "Whether suggestions without a number are shown: those that no calibrator fits."),
    Setting(
        "bands.likelyFrom",
        number(0, 1),
        BOUNDARIES.likely_from,
        "The probability from which a suggestion is called likely; it lies above `assay.bands.possibleFrom`.",
    ),
    Setting(
        "bands.possibleFrom",
        number(0, 1),
        BOUNDARIES.possible_from,
        "The probability from which a suggestion is called possible, and below which unlikely; it lies above 0.",
    ),
    Setting(
        "alternatives",
        whole(1, 8),
        4,
        "How many different suggestions are made when they are invoked. Those behind the first have a probability only where a "
        "calibrator was fitted on as many; the ones that come with Assay were fitted on 4.",
    ),
    _budget("prefixTokens", 1, "How much of the file before the cursor the model is shown."),
    _budget("suffixTokens", 0, "How much of the file behind the cursor the model is shown."),
    _budget("headTokens", 0, "How much of the file's head, where the imports stand, the model is shown when the middle is cut."),
    Setting(
        "context.openFiles",
        whole(0, _MOST_TOKENS, "tokens"),
        None,
        "How much of other open files the model is shown. More than 0 makes suggestions uncalibrated: they have no number.",
        "0, with which the model's calibrators were fitted",
    ),
    Setting(
        "maxMs",
        number(50, 60_000, "milliseconds"),
        10_000,
        "The longest that a request may take, `assay.delay` not counted: waiting until the model is loaded, for its turn, and the writing, "
        "which ends a tenth before.",
    ),
    Setting(
        "remember",
        switch(),
        True,
        "Whether what was suggested before is suggested again while it is typed along, taken back or undone. Without it the model is asked "
        "at every keystroke.",
    ),
    Setting(
        "speculate",
        switch(),
        True,
        "Whether the model, while it has nothing else to do, prepares what may be asked next: behind what was accepted, and for other "
        "words than those that it suggested.",
    ),
    Setting(
        "plainCompletion",
        one_of(*get_args(Plain)),
        "auto",
        "Whether suggestions stand in the ordinary list of completions; `auto`: only for editors that have no inline completion. An editor "
        "that does not let servers register this later has to be told at its start, in initializationOptions.",
    ),
    Setting(
        "log.events",
        switch(),
        True,
        "Whether what becomes of suggestions is logged on this machine, without code and paths: what calibrators learn from.",
        own=True,
    ),
    Setting(
        "log.path",
        file("the path of a file"),
        None,
        "The log's file. Its folder has to be there.",
        "`events.sqlite3` in the user's data folder",
        own=True,
    ),
    Setting(
        "log.text",
        switch(),
        False,
        "Whether the code of suggestions is logged, too, and what stands in its place later.",
        own=True,
    ),
    Setting(
        "log.days", whole(1, _MOST_DAYS, "days"), DAYS, "How long events are kept; they are pruned at the start and each hour.", own=True
    ),
    Setting(
        "log.megabytes",
        whole(1, _MOST_MEGABYTES, "MiB"),
        MEGABYTES,
        "What the events may take on the disk; the oldest go first.",
        own=True,
    ),
    Setting(
        "explore",
        number(0, 0.1),
        0.01,
        "The share of the suggestions hidden by `assay.showAbove` that are shown at random, so that calibrators can learn about them; only "
        "while `assay.log.events` is true.",
    ),
    Setting("diagnostics", switch(), False, "Whether `assay/status` tells how late the server's event loop was."),
)
