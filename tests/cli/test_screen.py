"""Is what is shown readable: wrapped by columns, coloured only where somebody looks?"""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.cli.screen import Screen, cells, wrap
from soulmem.domain.errors import NotFound


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@given(st.text(alphabet="ab cd,.！，。汉字かな \n", max_size=200), st.integers(20, 60))
def test_wrapping_keeps_every_character_but_spaces_and_fits(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    longest = max(map(len, text.split()), default=0)
    assert all(cells(line) <= max(width, 2 * longest) for line in lines)


def test_chinese_is_two_columns_wide_and_punctuation_never_begins_a_line() -> None:
    assert cells("ab汉字") == 6
    assert wrap("一二三四五，六七", 10) == ["一二三四五，", "六七"]
    assert wrap("一二三四「五」六七", 10) == ["一二三四", "「五」六七"]
    assert wrap("we don’t “know” it", 7) == ["we", "don’t", "“know”", "it"]
    assert wrap("one two three", 7) == ["one two", "three"]


def test_a_pipe_gets_no_colours_and_no_progress() -> None:
    out, err = io.StringIO(), io.StringIO()
    screen = Screen(out, err)
    screen.line("hello", "bold")
    screen.progress("1 of 2")
    screen.note("done")
    assert (out.getvalue(), err.getvalue()) == ("hello\n", "done\n")


def test_colours_take_no_room() -> None:
    assert cells("\x1b[1;36m汉\x1b[0m") == 2


def test_a_terminal_gets_colours_unless_they_are_unwanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in Screen(Terminal(), Terminal()).style("x", "bold")
    monkeypatch.setenv("NO_COLOR", "1")
    assert Screen(Terminal(), Terminal()).style("x", "bold") == "x"


def test_a_text_cannot_steer_the_terminal() -> None:
    out, err = io.StringIO(), io.StringIO()
    screen = Screen(out, err)
    screen.line("a\x1b[2Jb\x07\x9b31m\tc")
    screen.note("d\x1b]0;title\x07")
    screen.failure("e\r\x1b[1A", NotFound("x"))
    assert (out.getvalue(), err.getvalue()) == ("a[2Jb31m\tc\n", "d]0;title\ne[1A\n")


def test_as_an_object_only_the_object_is_written() -> None:
    out, err = Terminal(), Terminal()
    screen = Screen(out, err, as_json=True)
    screen.line("words")
    screen.note("remark")
    screen.progress("1 of 2")
    screen.result({"name": "青禾"})
    assert json.loads(out.getvalue()) == {"name": "青禾"}
    assert "青禾" in out.getvalue()
    assert err.getvalue() == ""
    failed = Terminal()
    Screen(failed, err, as_json=True).failure("in words", NotFound("no such soul"))
    assert json.loads(failed.getvalue()) == {
        "error": "not_found",
        "message": "no such soul",
    }
