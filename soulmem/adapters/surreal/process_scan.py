"""Keeps the engine from holding a file of every program on this machine open."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from itertools import count, islice

_MOST = 16  # files that the engine may need for an empty store in memory; it needs three


def forgo_process_scan() -> None:
    """Let the engine's one scan of all processes find nothing. Only Linux has the files in question.

    When a process opens its first store, the engine (through the crate sysinfo) lists all processes and
    threads of the machine, and keeps `/proc/<id>/stat` of each open for good: hundreds, up to half of the
    hard limit of open files. It never reads those of others again; later it looks at its own process alone.
    So the scan happens here, for an empty store in memory, while this process may open only as many files
    as that store needs: one more is allowed until it opens, and the scan, which comes last, gets none.

    Call it before other threads run: they could open no file meanwhile, for some hundredths of a second.
    """
    if sys.platform != "linux":
        return
    import resource

    from surrealdb_embedded import SyncEmbeddedDB

    # It sets up what all stores share, and fails: a file is no folder.
    with suppress(RuntimeError):
        SyncEmbeddedDB(f"surrealkv://{os.path.abspath(__file__)}/none")
    used = {int(number) for number in os.listdir("/proc/self/fd")}
    unused = (number for number in count() if number not in used)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    engine = None
    for number in islice(unused, _MOST):
        try:
            # The numbers from here on are not given to new files.
            resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
            engine = SyncEmbeddedDB("mem://")
            break
        except RuntimeError:  # it needs more
            continue
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if engine is not None:
        engine.close()
