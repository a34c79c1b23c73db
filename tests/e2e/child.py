"""Server processes: started, watched and stopped."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# A machine that has other work waits that many times longer; how fast anything is, is tested elsewhere.
PATIENCE = float(os.environ.get("SOULMEM_E2E_PATIENCE", "1"))


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Return as soon as `condition` holds; TimeoutError naming `what` after `seconds`."""
    deadline = time.monotonic() + seconds * PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def ask(url: str, method: str = "GET", body: object = None, seconds: float = 10.0) -> Any:
    """The JSON answer of `url`. HTTPError on a refusal, with the answer's text as its reason."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=seconds * PATIENCE) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            raise urllib.error.HTTPError(
                url, error.code, error.read().decode(), error.headers, None
            ) from None


class Child:
    """A server process whose output goes to a file."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        log: Path,
        env: dict[str, str] | None = None,
    ) -> None:
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                cwd=cwd,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **(env or {})},
            )

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def wait_for(self, ready: Callable[[], bool], seconds: float, what: str) -> None:
        """Like `until`, but stops waiting for a process that has ended."""

        def ready_or_dead() -> bool:
            if not self.running:
                raise RuntimeError(
                    f"{what}: ended with code {self._process.returncode}\n{self.tail()}"
                )
            return ready()

        try:
            until(ready_or_dead, seconds, what)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.tail()}") from None

    def tail(self, characters: int = 3000) -> str:
        """The end of what the process wrote."""
        return self.log.read_text("utf-8", "replace")[-characters:]

    def stop(self, seconds: float = 20.0) -> None:
        """Ask it to end; kill it when it does not within `seconds`."""
        if self.running:
            self._process.terminate()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, without a chance to tidy up."""
        self._process.kill()
        self._process.wait()
