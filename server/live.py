"""The language server's engine: the model's process and the calibrators, both loading while the server already answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from ..calibration.registry import folders, project_of
from ..calibration.watch import RegistryWatch
from ..inference.completion import Settings
from ..inference.model import StopReason
from ..inference.opening import ModelChoice
from .documents import Window
from .engine import Place, suggestion_of, window
from .model_process import LoadedModel, ModelProcess, State
from .suggestion import Suggestion


class LiveModel:
    """Suggestions from a model in a process of its own."""

    def __init__(self, choice: ModelChoice, *, project: Path | None, executor: Executor, on_state: Callable[[State], None]) -> None:
        """choice: the model; project: root folder of what is worked on, whose own calibrators, or those of the nearest folder above it
        that has some, are used, too; executor: for reading them first; on_state: as `ModelProcess`."""
        self.process = ModelProcess(choice, on_state=on_state)
        self._executor = executor
        self._root = project
        self._settings = Settings()
        self._watch: asyncio.Future[RegistryWatch] | None = None

    @property
    def window(self) -> Window:
        """How much text around the cursor to give to `suggest`."""
        return window(self._settings)

    async def start(self) -> None:
        """Begin to load the model and the calibrators; waits for neither."""
        self._watch = asyncio.get_running_loop().run_in_executor(self._executor, self._watched)
        await self.process.start()

    async def loaded(self) -> LoadedModel:
        """Wait for the model. Raises ModelUnavailable."""
        return await self.process.loaded()

    async def suggest(self, place: Place, *, wanted: Callable[[], bool] = lambda: True) -> Suggestion | None:
        """The suggestion at a place, None when there is nothing to suggest. Cancellable; `wanted` and errors as `ModelProcess.complete`."""
        generation = await self.process.complete(place.prefix, place.suffix, kind=place.kind, wanted=wanted)
        if generation.stopped_by is StopReason.CANCELLED:
            return None
        loaded = await self.loaded()
        assert self._watch is not None
        watch = await asyncio.shield(self._watch)
        root = self._root
        within = root is not None and (place.file is None or place.file.is_relative_to(root))
        return suggestion_of(
            generation,
            place,
            model_id=loaded.fingerprint.id,
            layout=loaded.layout,
            context_length=loaded.context_length,
            settings=self._settings,
            registry=watch.registry,
            project=root.name if root and within else None,
        )

    def status(self) -> dict[str, Any]:
        """{state, reason, model, process, calibrators, skipped_calibrators}, for the `assay/status` request."""
        loaded = self.process.model
        registry = self._watch.result().registry if self._watch is not None and self._watch.done() else None
        return {
            "state": self.process.state,
            "reason": self.process.reason,
            "model": None if loaded is None else {"id": loaded.fingerprint.id, "name": loaded.fingerprint.name, "load_ms": loaded.load_ms},
            "process": self.process.pid,
            "calibrators": None if registry is None else [entry.calibrator.id for entry in registry.entries],
            "skipped_calibrators": [] if registry is None else list(registry.skipped),
        }

    async def close(self) -> None:
        """End the model's process, and stop following the calibrators. Calling it again does nothing."""
        await self.process.close()
        if self._watch is not None:
            watch = await asyncio.shield(self._watch)
            await asyncio.to_thread(watch.close)

    def _watched(self) -> RegistryWatch:
        self._root = self._root and (project_of(self._root) or self._root)
        return RegistryWatch(folders(self._root))
