"""The programs that the tests need on this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

CHROMIUM_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


@dataclass(frozen=True, slots=True)
class Tools:
    """Programs by absolute path."""

    chromium: str
    node: str
    npm: str


def find_tools() -> Tools:
    """The programs the tests need. Without one of them: skip, or fail where `CI` says `true`."""
    chromium = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    node, npm = shutil.which("node"), shutil.which("npm")
    tools = {
        "chromium": chromium,
        "node": node,
        "npm": npm,
        "git": shutil.which("git"),
        "playwright (PyPI)": importlib.util.find_spec("playwright"),
    }
    missing = [name for name, where in tools.items() if where is None]
    if missing or chromium is None or node is None or npm is None:
        message = f"end-to-end tests need {', '.join(missing)}: see tests/e2e/README.md"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    return Tools(chromium, node, npm)


def cache_folder() -> Path:
    """Where what takes long to make is kept between runs."""
    named = os.environ.get("SOULMEM_E2E_CACHE")
    folder = Path(named).expanduser() if named else Path.home() / ".cache" / "soulmem-e2e"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
