"""State of compilation: machine code of the kernels, made once per process or read from disk.

python -m soulmem.kernels.warm FOLDER     compile into FOLDER, for later processes
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Literal

from soulmem.kernels.compiled import Kernels, compile_kernels
from soulmem.kernels.interpreted import INTERPRETED

State = Literal["warming", "ok"]

# Elements (rows, edges or occurrences) up to which a call may be interpreted: some 0.5 s.
INTERPRETED_MOST = 50_000

_ready: list[Kernels] = []  # one for the process, like an imported module
_failed = threading.Event()  # compilation raised: everything is interpreted
_compiling = threading.Lock()


def installed_cache() -> Path:
    """Folder for machine code beside this installation's libraries; filled at installation."""
    return Path(sys.prefix) / "soulmem-kernels"


def warm(cache: Path | None) -> None:
    """Compile the kernels, or read them from `cache`; returns when they are ready.

    Takes some 12 s of one core without a cache, some 0.5 s with one. Call it in a thread.

    cache  folder for machine code, made if missing. None, or a folder that cannot be
           written: compiled for this process alone.
    """
    with _compiling:
        if _ready:
            return
        try:
            _ready.append(_compile(cache))
        except BaseException:
            _failed.set()
            raise


def state() -> State:
    """`ok` once the kernels are compiled."""
    return "ok" if _ready else "warming"


def kernels(elements: int = 0) -> Kernels:
    """The kernels for a call over so many elements.

    Compiled ones once there are any. Before that the interpreted ones for small calls,
    up to INTERPRETED_MOST elements; a larger call waits until compilation is done, so
    give `elements` in the compute thread only. If compilation failed: interpreted.
    """
    if not _ready and elements > INTERPRETED_MOST and not _failed.is_set():
        warm(None)  # waits where another thread is at it
    return _ready[0] if _ready else INTERPRETED


def _compile(cache: Path | None) -> Kernels:
    import numba
    import scipy.sparse  # noqa: F401  # the steady state needs it: import it off the event loop

    folder = _writable(cache)
    if folder is not None:
        numba.config.CACHE_DIR = str(folder)
        try:
            return compile_kernels(cache=True)
        # A full disk, a torn file, a folder that was removed meanwhile.
        except (OSError, EOFError, RuntimeError):
            pass
    return compile_kernels(cache=False)


def _writable(folder: Path | None) -> Path | None:
    """The folder, made if missing; None if files cannot be made in it."""
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder)
        os.close(handle)
        os.unlink(name)
    except OSError:
        return None
    return folder


if __name__ == "__main__":
    warm(installed_cache())
