"""Does `soulmem recall` answer what the sidecar answers?"""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from soulmem.cli.client import Client
from soulmem.cli.recall import show_recall
from soulmem.cli.screen import Screen
from soulmem.cli.words import Words
from soulmem.domain.dialogue import text_hash
from tests.cli.chat_files import said, talk, write
from tests.cli.conftest import Command

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def lantern(running: Client) -> str:
    """The id of a soul that knows where a lantern is."""
    rows = [
        {
            "slot": f"l{n}",
            "role": "character",
            "speaker": "Bel",
            "text": text,
            "hash": "",
        }
        for n, text in enumerate(
            ["The brass lantern hangs behind the mill.", "We ate plums.", "Good night."]
        )
    ]
    running.ask("PUT", "/souls/lantern", {"name": "Lantern Bel"})
    body = {
        "souls": ["lantern"],
        "messages": [{**row, "hash": text_hash(row["text"])} for row in rows],
    }
    running.ask("PUT", "/chats/lantern-chat", body)
    return "lantern"


def test_the_object_is_that_of_the_http_interface(
    ask: Command, running: Client, lantern: str
) -> None:
    ended = ask("recall", "--soul", "Lantern Bel", "Where is the lantern?", "--json").json()
    direct = running.ask("POST", "/recall", {"soul": lantern, "query": "Where is the lantern?"})
    for changing in ("trace", "took_ms"):
        assert type(ended.pop(changing)) is type(direct.pop(changing))
    # What the first recall brought comes a little more easily to the second, once that is learned.
    first, second = (
        [memory.pop("score") for memory in answer["memories"]] for answer in (ended, direct)
    )
    assert second == pytest.approx(first, rel=0.1)
    assert ended == direct
    assert ended["memories"][0]["sources"] == [{"chat": "lantern-chat", "slot": "l0"}]


def test_in_words_it_shows_the_block_and_the_reason(ask: Command, lantern: str) -> None:
    ended = ask("recall", "--soul", "lantern bel", "Where is the lantern?")
    assert ended.code == 0
    assert "brass lantern hangs behind the mill" in ended.out
    assert "Why:" in ended.out
    assert "\x1b" not in ended.out


def test_a_chat_limits_it_to_its_own_timeline(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    ask(
        "import",
        write(tmp_path / "own.jsonl", [said(0, "A red kite."), *talk(3)]),
        "--soul",
        "Own",
    )
    ended = ask("recall", "--soul", "Own", "kite", "--chat", "nowhere", "--json")
    assert (ended.code, ended.json()["error"]) == (1, "not_found")
    [soul] = [s for s in running.ask("GET", "/souls")["souls"] if s["name"] == "Own"]
    [chat] = running.ask("GET", f"/chats?soul={soul['id']}")["chats"]
    question = "What colour is the kite?"
    ended = ask("recall", "--soul", "Own", question, "--chat", chat["id"], "--json")
    assert any("red kite" in m["text"] for m in ended.json()["memories"])


def test_an_unknown_soul_is_told_with_the_known_ones(ask: Command, lantern: str) -> None:
    ended = ask("recall", "--soul", "Unheard Of", "x")
    assert ended.code == 1
    assert "Lantern Bel" in ended.err


def test_souls_of_one_name_have_to_be_told_apart(ask: Command, running: Client) -> None:
    for soul in ("same1", "same2"):
        running.ask("PUT", f"/souls/{soul}", {"name": "Same"})
    ended = ask("recall", "--soul", "Same", "x")
    assert ended.code == 1
    assert "same1, same2" in ended.err
    ended = ask("recall", "--soul", "same2", "x")
    assert (ended.code, ended.out) == (0, "Nothing comes to mind.\n")


_LAMP: dict[str, Any] = {"text": "The lamp is broken.", "why": "by its words"}


@pytest.mark.parametrize(
    ("language", "memories", "withheld", "sentence"),
    [
        ("en", [], 0, "Nothing comes to mind."),
        (
            "en",
            [],
            3,
            "This text calls for no memory. Came to mind, but withheld: 3.",
        ),
        ("zh", [], 3, "这段话没有唤起需要的记忆。有 3 条浮现在脑海，但收住了没说。"),
        ("en", [_LAMP], 2, "More came to mind, but were withheld: 2."),
        ("zh", [_LAMP], 2, "另有 2 条浮现在脑海，但收住了没说。"),
    ],
)
def test_what_was_withheld_is_counted_last(
    language: str, memories: list[dict[str, Any]], withheld: int, sentence: str
) -> None:
    out = StringIO()
    answer = {"memories": memories, "blocks": [], "withheld": withheld}
    show_recall(answer, Words(language), Screen(out, StringIO()))
    assert out.getvalue().splitlines()[-1] == sentence


def test_where_nothing_was_withheld_nothing_is_said_of_it() -> None:
    out = StringIO()
    answer = {"memories": [_LAMP], "blocks": [], "withheld": 0}
    show_recall(answer, Words("en"), Screen(out, StringIO()))
    assert "withheld" not in out.getvalue()
