"""Are the kernels compiled yet?"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Literal

from soulmem.kernels.compiled import Kernels, compile_kernels

State = Literal["warming", "ok"]

_ready: list[Kernels] = []  # machine code is the process's own, like an imported module


def warm(cache: Path | None) -> None:
    """Compile the kernels; call it once, in a thread. Walks do without compiled code until it returns.

    cache  folder for machine code, made if missing: a later start takes milliseconds instead of seconds.
           Without one, or where nothing can be written, this start compiles for itself alone.
    """
    if _ready:
        return
    import numba
    import scipy.sparse  # noqa: F401  # until then walks need it, and the first one should not wait for it

    folder = _writable(cache)
    if folder is not None:
        numba.config.CACHE_DIR = str(folder)
        try:
            _ready.append(compile_kernels(cache=True))
            return
        except (
            OSError,
            EOFError,
            RuntimeError,
        ):  # a full disk, a torn file, a folder that went away
            pass
    _ready.append(compile_kernels(cache=False))


def state() -> State:
    """Whether walks run compiled."""
    return "ok" if _ready else "warming"


def kernels() -> Kernels | None:
    """The compiled kernels once there are any."""
    return _ready[0] if _ready else None


def _writable(folder: Path | None) -> Path | None:
    """The folder if files can be made in it."""
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
