"""Keeps the regular expressions that soulmem builds while a test runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# What calls of the module `re` begin with a pattern.
CALLS = (
    *("compile", "search", "match", "fullmatch", "sub"),
    *("subn", "finditer", "findall", "split"),
)


class Recorder:
    """Keeps the expressions that soulmem builds, by file and line."""

    def __init__(self, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.built: list[tuple[str, int, re.Pattern[str], bool]] = []
        self._root = repository / "soulmem"
        for name in CALLS:
            monkeypatch.setattr(re, name, self._watched(getattr(re, name), name))

    def _watched(self, real: Callable[..., Any], name: str) -> Callable[..., Any]:
        compile_, anchored = re.compile, name in ("match", "fullmatch")

        def watched(pattern: Any, *rest: Any, **more: Any) -> Any:
            frame = sys._getframe(1)
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(self._root):
                flags = more.get("flags", 0)
                if name == "compile" and rest:
                    flags = rest[0]
                elif name in ("search", "match", "fullmatch", "findall", "finditer"):
                    flags = rest[1] if len(rest) > 1 else flags
                file = path.relative_to(self._root).as_posix()
                kept = compile_(pattern, flags)
                self.built.append((file, frame.f_lineno, kept, anchored))
            return real(pattern, *rest, **more)

        return watched
