"""How start.py runs other programs: without the caller's Python settings, one installation at a time."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

# These would make Python or pip use libraries of another place, or install there.
_FOREIGN = (
    *("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT"),
    *("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER"),
)
_POLL = 0.5  # seconds between two looks at the lock of another start.py, on Windows


def clean_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment without what would mix other libraries into .venv."""
    return {name: value for name, value in environ.items() if name not in _FOREIGN}


def run_logged(
    command: Sequence[object], folder: Path, log: Path, extra: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run a command in the folder with the `extra` variables; its output goes to the log, line by line.

    A terminal shows the last line meanwhile.
    Returns exit code, stdout and stderr.
    """
    words = [str(word) for word in command]
    environ = {
        **clean_environment(),
        **extra,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_USER": "0",
        "PYTHONUTF8": "1",
    }
    with _opened(log) as file:
        file.write(f"$ {' '.join(words)}\n")
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            errors: list[str] = []
            reading = threading.Thread(
                target=_copy, args=(process.stderr, file, errors), daemon=True
            )
            reading.start()
            output: list[str] = []
            _copy(process.stdout, file, output, _show)
            reading.join()
        _show("")
    return process.returncode, "".join(output), "".join(errors)


def hold(file: IO[str], waits: Callable[[], None]) -> None:
    """Lock the file for this process until it is closed; `waits` is called once if another one holds it.

    The system releases the lock when the process ends, however it ends.
    """
    if not _locked(file, wait=False):
        waits()
        while not _locked(file, wait=True):
            time.sleep(_POLL)


def _opened(log: Path) -> IO[str]:
    """The log, or nothing where its folder does not exist yet."""
    place = log if log.parent.is_dir() else Path(os.devnull)
    return place.open("a", encoding="utf-8")


def _copy(
    stream: IO[str],
    file: IO[str],
    lines: list[str],
    show: Callable[[str], None] = lambda line: None,
) -> None:
    for line in stream:
        lines.append(line)
        file.write(line)
        file.flush()
        show(line)


def _show(line: str) -> None:
    """Show a line in place of the last one; nothing where the output is no terminal."""
    if sys.stdout is not None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        text = line.strip()[:width]
        sys.stdout.write(f"\r{text:<{width}}\r")
        sys.stdout.flush()


if sys.platform == "win32":
    import msvcrt

    def _locked(file: IO[str], wait: bool) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _locked(file: IO[str], wait: bool) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError:
            return True  # a file system without locks: nothing can be held there
        return True
