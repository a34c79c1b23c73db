"""Chooses the language of the output."""

from __future__ import annotations

import locale
import sys
from collections.abc import Mapping, Sequence

LANGUAGES = ("en", "zh")


def choose_language(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """The language of `--lang`, else of the system's settings: "en" or "zh"."""
    for index, word in enumerate(argv):
        value = word.partition("=")[2] if word.startswith("--lang=") else ""
        if word == "--lang" and index + 1 < len(argv):
            value = argv[index + 1]
        if value in LANGUAGES:
            return value
    return "zh" if _system_is_chinese(environ) else "en"


def _system_is_chinese(environ: Mapping[str, str]) -> bool:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return environ[name].lower().startswith("zh")
    if sys.platform == "win32":
        import ctypes

        return bool(ctypes.windll.kernel32.GetUserDefaultUILanguage() & 0x3FF == 0x04)
    return (locale.getlocale()[0] or "").lower().startswith(("zh", "chinese"))
