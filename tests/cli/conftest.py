"""What the tests of the command line share: the command, and a real sidecar in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from soulmem.cli import main
from soulmem.cli.client import Client

REPOSITORY = Path(__file__).parents[2]
ENVIRONMENT = {
    "COLUMNS": "88",  # workers of a parallel run have narrower ones
    "SOULMEM_EMBEDDER_MODEL": "none",
    "PYTHONUNBUFFERED": "1",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The object it printed."""
        return json.loads(self.out)


Command = Callable[..., Ended]


def start_process(*argv: str, **environ: str) -> subprocess.Popen[str]:
    """`soulmem ARGV` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "soulmem", *argv],
        cwd=REPOSITORY,
        env={**os.environ, **ENVIRONMENT, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def run_process(*argv: str, **environ: str) -> Ended:
    """`soulmem ARGV` in a process of its own, to its end."""
    with start_process(*argv, **environ) as process:
        out, err = process.communicate()
    return Ended(process.returncode, out, err)


@pytest.fixture(scope="session")
def running_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of `running`."""
    return tmp_path_factory.mktemp("sidecar")


@pytest.fixture(scope="session")
def running(running_folder: Path) -> Iterator[Client]:
    """A sidecar on a free port, for the whole session; it finds by words."""
    command = ("serve", "--port", "0", "--data", str(running_folder), "--json")
    with start_process(*command, SOULMEM_EMBEDDER_MODEL="none") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else ""
        port = int(json.loads(line)["url"].removesuffix("/v1").rpartition(":")[2])
        yield Client("127.0.0.1", port)
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command in this process: `command("recall", ...)`; in English unless it says otherwise."""
    for name in [name for name in os.environ if name.startswith("SOULMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SOULMEM_EMBEDDER_MODEL", "fallback")
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    monkeypatch.setenv("COLUMNS", "88")  # workers of a parallel run have narrower ones

    def run(*argv: str) -> Ended:
        capsys.readouterr()
        code = main(argv)
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return run


@pytest.fixture
def ask(command: Command, running: Client) -> Command:
    """Run a command against the running sidecar."""

    def run(name: str, *argv: str) -> Ended:
        return command(name, *argv, "--port", str(running.port))

    return run
