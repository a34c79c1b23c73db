"""The real sidecar: its process, and what it has stored."""

from __future__ import annotations

import os
import sys
import urllib.error
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .child import Child, ask, until

REPOSITORY = Path(__file__).parents[2]


class Sidecar:
    """`soulmem serve` in test mode on one data folder; it can be stopped, killed and started again."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.folder = folder
        self.log = folder.with_suffix(".log")
        self._command = [
            sys.executable,
            "-m",
            "soulmem",
            "serve",
            "--test-mode",
            "--data",
            str(folder),
            "--port",
            str(port),
        ]
        self._env = {
            "SOULMEM_EMBEDDER_MODEL": os.environ.get("SOULMEM_EMBEDDER_MODEL", "fallback"),
            "SOULMEM_CONSOLIDATION_CLIENT_CALLS_PER_HOUR": "1000",  # tests of one sidecar share its hour
            "SOULMEM_LLM_MODEL": "client",  # SillyTavern's own connection, when somebody rests or asks for it
            "OMP_NUM_THREADS": "1",
        }
        self._child: Child | None = None

    def start(self) -> None:
        """Start it without waiting for it."""
        self._child = Child(self._command, REPOSITORY, self.log, self._env)

    def wait(self) -> None:
        """Until it is well."""
        assert self._child is not None
        self._child.wait_for(lambda: self.status() == "ok", 60, "sidecar ok")

    def stop(self) -> None:
        if self._child is not None:
            self._child.stop()

    def kill(self) -> None:
        assert self._child is not None
        self._child.kill()

    def tail(self) -> str:
        return self._child.tail() if self._child is not None else ""

    def status(self) -> str:
        """`health.status`, or "down"."""
        try:
            return str(ask(f"{self.url}/health")["status"])
        except (urllib.error.URLError, OSError):
            return "down"

    def ask(self, method: str, path: str, body: object = None, seconds: float = 10.0) -> Any:
        return ask(f"{self.url}{path}", method, body, seconds)

    def stored(self, chat: str) -> list[dict[str, Any]]:
        """The messages of a chat as stored, in order."""
        messages: list[dict[str, Any]] = self.ask("GET", f"/chats/{chat}")["messages"]
        return messages

    def bin_all_but(self, kept: str) -> list[dict[str, Any]]:
        """Put every soul but `kept` into the bin, so that Idle work is of that one alone; what was binned."""
        others = [soul for soul in self.ask("GET", "/souls")["souls"] if soul["id"] != kept]
        for soul in others:
            self.ask("DELETE", f"/souls/{soul['id']}?confirm={quote(soul['name'])}")
        return others

    def take_back(self, binned: list[dict[str, Any]]) -> None:
        """Restore what `bin_all_but` put away."""
        for soul in binned:
            self.ask("PUT", f"/souls/{soul['id']}", {"name": soul["name"]})

    def until_searchable(self, seconds: float = 30.0) -> None:
        """Wait until everything accepted can be recalled."""
        until(
            lambda: self.ask("GET", "/health")["pending"] == 0,
            seconds,
            "all messages searchable",
        )
