"""Waits for jobs of the sidecar."""

from __future__ import annotations

import time
from typing import Any

from soulmem.cli.client import Client
from soulmem.cli.screen import Screen
from soulmem.cli.words import Words
from soulmem.domain.errors import SoulMemError

_POLL = 0.3  # seconds between two looks at the job


class JobFailed(SoulMemError):
    """The job ended without a result."""

    code = "failed"


def job_result(
    client: Client, body: dict[str, Any], words: Words, screen: Screen
) -> tuple[str, Any]:
    """Start a job and wait for its end; its id and result. Ctrl-C cancels it; what is done stays.

    Raises JobFailed.
    """
    job = str(client.ask("POST", "/jobs", body)["job"])
    try:
        while True:
            view: dict[str, Any] = client.ask("GET", f"/jobs/{job}")
            if view["state"] not in ("queued", "running"):
                break
            time.sleep(_POLL)
    except KeyboardInterrupt:
        client.ask("DELETE", f"/jobs/{job}")
        screen.note(words("ask_undo_later", job=job))
        raise
    if view["state"] != "done":
        raise JobFailed(view["error"] or words("ask_cancelled"))
    return job, view["result"]
