"""What the server has and does, for `assay/status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..confidence.dial_report import LABEL

if TYPE_CHECKING:
    from ..language_server import AssayServer


def status_of(ls: AssayServer) -> dict[str, Any]:
    """What `assay/status` answers: docs/formats.md."""
    process, registries = ls.live.process, list(ls.calibrators.registries())
    loaded = process.model
    calibrators = list(dict.fromkeys(entry.calibrator.id for registry in registries for entry in registry.entries))
    drift = ls.drift if ls.settings.event == LABEL else None
    return {
        "state": process.state,
        "reason": process.reason,
        "busy": ls.live.scheduler.busy,
        "hidden": ls.requests.hidden,
        "paused": paused(ls),
        "silent": ls.silent,
        "model": None if loaded is None else {"id": loaded.fingerprint.id, "name": loaded.fingerprint.name, "load_ms": loaded.load_ms},
        "process": process.pid,
        "calibrators": calibrators or None,
        "skipped_calibrators": list(dict.fromkeys(reason for registry in registries for reason in registry.skipped)),
        "drift": drift.as_json() if drift is not None and drift.entry.calibrator.id in calibrators else None,
        "work": {"prompt_tokens": process.prompt_tokens, "decoded_tokens": process.decoded_tokens},
        "settings": list(ls.problems),
        **ls.counts.summary(),
        "log": None
        if ls.events.path is None
        else {"path": str(ls.events.path), "dropped": ls.events.dropped, "trouble": ls.events.trouble},
        "loop_lag": ls.lag.take() if ls.lag is not None else None,
    }


def paused(ls: AssayServer) -> str | None:
    """Until when the user wants no suggestions, in ISO 8601; None where there is no pause."""
    until = ls.pause.until
    return None if until is None else until.isoformat(timespec="seconds")
