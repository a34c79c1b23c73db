"""The data folder of each operating system."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path


def data_folder(
    chosen: str = "", env: Mapping[str, str] | None = None, platform: str = sys.platform
) -> Path:
    """The data folder: `chosen` (`~` allowed), else the usual place of the system. Nothing is created.

    Linux: $XDG_DATA_HOME/soulmem or ~/.local/share/soulmem. macOS: ~/Library/Application Support/soulmem.
    Windows: %LOCALAPPDATA%\\soulmem.
    """
    env = env or {}
    if chosen:
        return Path(chosen).expanduser().absolute()
    if platform == "win32":
        local = env.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "soulmem"
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "soulmem"
    share = env.get("XDG_DATA_HOME", "")
    # The XDG standard ignores a relative path.
    return (
        Path(share) if share.startswith("/") else Path.home() / ".local" / "share"
    ) / "soulmem"
