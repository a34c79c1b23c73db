"""Does `soulmem recall` answer what the sidecar answers?"""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.cli.client import Client
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
    ended = ask(
        "recall", "--soul", "Lantern Bel", "Where is the lantern?", "--json"
    ).json()
    direct = running.ask(
        "POST", "/recall", {"soul": lantern, "query": "Where is the lantern?"}
    )
    for changing in ("trace", "took_ms"):
        assert type(ended.pop(changing)) is type(direct.pop(changing))
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
    ended = ask("recall", "--soul", "Own", "kite", "--chat", chat["id"], "--json")
    assert any("red kite" in m["text"] for m in ended.json()["memories"])


def test_an_unknown_soul_is_told_with_the_known_ones(
    ask: Command, lantern: str
) -> None:
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
