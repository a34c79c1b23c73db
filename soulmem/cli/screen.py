"""Output of the commands: coloured on a terminal, plain text in a pipe, one object with --json."""

from __future__ import annotations

import json
import os
import re
import shutil
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

from soulmem.domain.errors import SoulMemError

_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}
# Scripts in which a line may break after any character.
_WIDE = "\u2e80-\uffff\U00020000-\U0003ffff"
_PIECE = re.compile(rf"\s+|[“‘（《「『【]*[{_WIDE}]|[^\s{_WIDE}]+")
# Control characters are removed, so that a chat cannot control the terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
# Characters that must not begin a line.
_NOT_FIRST = frozenset("，。、；：？！…—”’）》」』】,.;:?!)")


class Screen:
    """Output of a command: results to `out`, remarks to `err`; with `as_json` only one object."""

    def __init__(self, out: TextIO, err: TextIO, *, as_json: bool = False) -> None:
        self._out, self._err, self._as_json = out, err, as_json
        self._colour = (
            out.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        )
        self._live = err.isatty() and not as_json
        self.width = min(shutil.get_terminal_size((88, 24)).columns, 100)
        if self._colour and os.name == "nt":
            os.system("")  # makes the Windows console understand colours

    def style(self, text: str, *names: str) -> str:
        """`text` with colours, if the output is a terminal."""
        if not self._colour or not names:
            return text
        return f"\x1b[{';'.join(_STYLES[name] for name in names)}m{text}\x1b[0m"

    def line(
        self, text: str = "", *styles: str, indent: str = "", first: str | None = None
    ) -> None:
        """Print wrapped text. Each line begins with `indent`, the first one with `first` if it is not None."""
        if self._as_json:
            return
        head = indent if first is None else first
        for row in wrap(plain(text), max(20, self.width - max(cells(indent), cells(head)))):
            print(head + self.style(row, *styles), file=self._out)
            head = indent
        self._out.flush()

    def rule(self, text: str) -> None:
        """Print a heading as wide as the screen."""
        heading = f"── {text} "
        self.line(heading + "─" * max(0, self.width - cells(heading)), "bold")

    def note(self, text: str) -> None:
        """Print a remark."""
        if not self._as_json:
            self._remark(text, "dim")

    def progress(self, text: str) -> None:
        """Print a line that the next one overwrites; only on a terminal."""
        if self._live:
            print("\r\x1b[2K" + plain(text), end="", file=self._err, flush=True)

    def result(self, value: Any, *, indent: int | None = 2) -> None:
        """With `--json`, print the object; on one line if `indent` is None."""
        if self._as_json:
            print(
                json.dumps(value, ensure_ascii=not _is_utf8(self._out), indent=indent),
                file=self._out,
                flush=True,
            )

    def failure(self, text: str, error: SoulMemError) -> None:
        """Print an error."""
        if self._as_json:
            self.result({"error": error.code, "message": error.message})
        else:
            self._remark(text, "red")

    def _remark(self, text: str, style: str) -> None:
        self.progress("")
        shown = self.style(plain(text), style) if self._live else plain(text)
        print(shown, file=self._err, flush=True)


def plain(text: str) -> str:
    """`text` without control characters; tab and line break stay."""
    return _CONTROL.sub("", text)


def cells(text: str) -> int:
    """The number of terminal columns that `text` takes."""
    return sum(map(_character_cells, _COLOUR.sub("", text)))


def _character_cells(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def wrap(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` columns. Chinese text breaks anywhere except before closing
    punctuation.
    """
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for piece in _PIECE.findall(paragraph):
            if line and cells(line) + cells(piece.rstrip()) > width and piece not in _NOT_FIRST:
                lines.append(line.rstrip())
                line = "" if piece.isspace() else piece
            else:
                line += piece
        lines.append(line.rstrip())
    return lines


def _is_utf8(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"
