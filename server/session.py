"""What the features of one editor's conversation share: texts and folders, settings, the model, its calibrators, and the log."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ..inference.completion.settings import Settings
from ..inference.opening import ModelChoice
from .confidence.calibrators import Calibrators
from .confidence.log_reader import LogReader
from .documents.documents import Document, Documents
from .documents.notebooks import Notebooks
from .documents.open_files import OtherFiles
from .documents.workspace import Roots, root_of
from .model.live import LiveModel
from .model.process import LoadedModel
from .model.read_projects import EditedFiles
from .settings.settings import DEFAULTS, LiveSettings
from .tracking.event_writer import EventWriter


@dataclass(slots=True)
class Session:
    """The parts are there from the start; settings and folders are replaced when the client changes them.

    default_model: where the settings name none. problems: what is wrong with the settings, in sentences for people. asked_in: the document
    that was last asked about. model_checks: how many requests wait to hear whether the model can be opened, and tell the user themselves.
    """

    default_model: ModelChoice
    documents: Documents
    notebooks: Notebooks
    others: OtherFiles
    edited_files: EditedFiles
    live: LiveModel
    calibrators: Calibrators
    events: EventWriter
    log_reader: LogReader = field(default_factory=LogReader)
    settings: LiveSettings = DEFAULTS
    problems: tuple[str, ...] = ()
    roots: Roots = field(default_factory=Roots)
    is_neovim: bool = False
    asked_in: str = ""
    model_checks: int = 0

    @property
    def choice(self) -> ModelChoice:
        """The model that is wanted."""
        return self.settings.model_or(self.default_model)

    @property
    def context(self) -> Settings:
        """What the model is shown: as its size says, except for what the user set. Until it is loaded a typical model is assumed."""
        budgets = {
            "prefix_tokens": self.settings.context_prefix_tokens,
            "suffix_tokens": self.settings.context_suffix_tokens,
            "head_tokens": self.settings.context_head_tokens,
            "extra_tokens": self.settings.context_open_files,
        }
        usual = Settings() if self.loaded is None else self.loaded.settings(self.choice.prompt_size)
        return replace(usual, **{name: tokens for name, tokens in budgets.items() if tokens is not None})

    @property
    def loaded(self) -> LoadedModel | None:
        """The model, while it can be asked."""
        return self.live.process.model

    @property
    def document_in_use(self) -> Document | None:
        """The document that was last asked about, or else the one opened last."""
        return self.documents.get(self.asked_in) or next(iter([*self.documents][-1:]), None)

    @property
    def first_root(self) -> Path | None:
        """The first workspace folder, if any is open."""
        return next(iter(self.roots.paths), None)

    def root_of(self, document: Document) -> Path | None:
        """The folder whose calibrators count in a document. A text that is in no folder may become a file of the first."""
        return root_of(document.uri, self.roots) or self.first_root
