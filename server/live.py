"""The language server's engine: the model's process and the calibrators, both loading while the server already answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from ..calibration.registry import Registry, folders, read_registry
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
        """choice: the model; project: root folder, which may hold calibrators of its own; executor: for reading
        files; on_state: as `ModelProcess`."""
        self.process = ModelProcess(choice, on_state=on_state)
        self._executor = executor
        self._project = project
        self._settings = Settings()
        self._registry: asyncio.Future[Registry] | None = None

    @property
    def window(self) -> Window:
        """How much text around the cursor to give to `suggest`."""
        return window(self._settings)

    async def start(self) -> None:
        """Begin to load the model and the calibrators; waits for neither."""
        self._registry = asyncio.get_running_loop().run_in_executor(self._executor, lambda: read_registry(folders(self._project)))
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
        assert self._registry is not None
        registry = await asyncio.shield(self._registry)
        return suggestion_of(
            generation,
            place,
            model_id=loaded.fingerprint.id,
            layout=loaded.layout,
            context_length=loaded.context_length,
            settings=self._settings,
            registry=registry,
        )

    def status(self) -> dict[str, Any]:
        """{state, reason, model, process, calibrators, skipped_calibrators}, for the `assay/status` request."""
        loaded = self.process.model
        registry = self._registry.result() if self._registry is not None and self._registry.done() else None
        return {
            "state": self.process.state,
            "reason": self.process.reason,
            "model": None if loaded is None else {"id": loaded.fingerprint.id, "name": loaded.fingerprint.name, "load_ms": loaded.load_ms},
            "process": self.process.pid,
            "calibrators": None if registry is None else [entry.calibrator.id for entry in registry.entries],
            "skipped_calibrators": [] if registry is None else list(registry.skipped),
        }

    async def close(self) -> None:
        """End the model's process."""
        await self.process.close()
