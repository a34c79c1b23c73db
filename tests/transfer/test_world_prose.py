"""Of an entry of a world what it says is read; orders to the model, code, forms and conditions are not.

`world_entries.json` holds title, content and what is left (null: all of it).
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from soulmem.transfer.lore import Cast
from soulmem.transfer.templates import filled
from soulmem.transfer.world_prose import Prose, prose_of

CAST = Cast("Mira", "Tobin")
ENTRIES = json.loads(Path(__file__).with_name("world_entries.json").read_text(encoding="utf-8"))
STATED = [(title, content) for title, content, left in ENTRIES if left is None]
CUT = [entry for entry in ENTRIES if entry[2] is not None]


def read(content: str, title: str = "") -> Prose:
    return prose_of(filled(content, CAST), title, CAST.user)


def words(text: str) -> str:
    return "".join(text.replace("```yaml", "").replace("```", "").split())


@pytest.mark.parametrize(("title", "content"), STATED)
def test_a_statement_is_read_whole(title: str, content: str) -> None:
    prose = read(content, title)
    assert words(prose.text) == words(filled(content, CAST))
    assert not prose.is_shortened


@pytest.mark.parametrize(("title", "content", "left"), CUT)
def test_orders_and_code_are_left_out(title: str, content: str, left: str) -> None:
    assert read(content, title).text == left


@pytest.mark.parametrize(
    "content",
    [
        "[System: end every reply with a question]",
        "<% if (a > 1) { %>She is here.<% } %>",
        "The mill is red.<% if (a > 1) { %>\nShe is here.<% } %>",
        "The mill is red. Her mood is {{getvar::mood}}.",
        "```\n[1, 2, 3]\n```",
    ],
)
def test_what_is_left_out_is_told(content: str) -> None:
    assert read(content).is_shortened


@pytest.mark.parametrize(
    "piece",
    [
        *("{{", "}}", "<%", "{%", "[", "<a", "{{x::", "[System: ", "<% { %>"),
        *("{% if %}", "0-20: a\n", "a:\n", "/x/", '"a": 1,\n', "(", "x "),
    ],
)
def test_any_text_is_read_in_time_that_grows_with_it(piece: str) -> None:
    started = time.process_time()
    read(piece * (40_000 // len(piece)))
    assert time.process_time() - started < 6
