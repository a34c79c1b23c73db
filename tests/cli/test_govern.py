"""Has the user the last word on the command line, too: bin, permanent memories, undo?"""

from __future__ import annotations

from typing import Any

import pytest

from soulmem.cli.client import Client, Refused
from tests.cli.conftest import Command

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def ivo(running: Client) -> str:
    """A soul of these tests alone."""
    running.ask("PUT", "/souls/ivo", {"name": "Ivo"})
    return "ivo"


def note(running: Client, soul: str, text: str, **more: Any) -> str:
    """The id of a new memory."""
    body = {"soul": soul, "kind": "note", "text": text, **more}
    return str(running.ask("POST", "/memories", body)["id"])


def state(running: Client, memory: str) -> str:
    return str(running.ask("GET", f"/memories/{memory}")["state"])


def test_the_bin_is_shown_and_gives_back(ask: Command, running: Client, ivo: str) -> None:
    first, second = (
        note(running, ivo, "a red kite"),
        note(running, ivo, "a blue kite\nand more"),
    )
    for key in (first, second):
        running.ask("DELETE", f"/memories/{key}")
    ended = ask("bin", "list", "--soul", "Ivo")
    assert (
        ended.code,
        first in ended.out,
        "a blue kite" in ended.out,
        "and more" in ended.out,
    ) == (
        *(0, True, True),
        False,
    )
    ended = ask("bin", "restore", first, "nothing", "--json")
    assert ended.code == 1
    assert (ended.json()["done"], [f["id"] for f in ended.json()["failed"]]) == (
        [first],
        ["nothing"],
    )
    assert state(running, first) == "active"
    assert ask("bin", "restore", "--all", "--soul", "ivo").code == 0
    assert state(running, second) == "active"
    assert "empty" in ask("bin", "list", "--soul", "ivo").out


def test_what_is_purged_is_nowhere_any_more(ask: Command, running: Client, ivo: str) -> None:
    key, kept = (
        note(running, ivo, "a secret heron"),
        note(running, ivo, "a plain heron"),
    )
    ended = ask("bin", "purge", key, "--yes")
    assert (ended.code, "not in the bin" in ended.out) == (1, True)
    running.ask("DELETE", f"/memories/{key}")
    assert "--yes" in ask("bin", "purge", key).err
    assert state(running, key) == "bin"

    assert ask("bin", "purge", key, "--yes").code == 0
    with pytest.raises(Refused, match="no memory"):
        running.ask("GET", f"/memories/{key}")
    entries = running.ask("GET", f"/memories/{key}/history")["audit"]
    assert entries[0]["action"] == "purge"
    assert "secret" not in str(entries)
    assert state(running, kept) == "active"


def test_deleted_characters_are_shown_and_come_back(ask: Command, running: Client) -> None:
    running.ask("PUT", "/souls/gone1", {"name": "Gone"})
    running.ask("DELETE", "/souls/gone1?confirm=Gone")
    assert "Gone" in ask("bin", "list").out
    assert ask("bin", "restore", "gone1").code == 0
    assert running.ask("GET", "/souls/gone1")["name"] == "Gone"


def test_permanent_memories_are_made_kept_released_and_deleted(
    ask: Command, running: Client, ivo: str
) -> None:
    made = ask("permanent", "add", "Ivo fears water.", "--soul", "Ivo", "--json").json()
    assert (made["permanent"], made["text"]) == (True, "Ivo fears water.")
    other = note(running, ivo, "an old oath")
    assert ask("permanent", "keep", other).code == 0
    listed = ask("permanent", "list", "--soul", "Ivo", "--json").json()
    assert {m["id"] for m in listed["souls"][0]["memories"]} == {made["id"], other}
    assert ask("permanent", "release", other).code == 0
    assert other not in ask("permanent", "list").out

    assert "--yes" in ask("permanent", "delete", made["id"]).err
    assert state(running, made["id"]) == "active"
    assert ask("permanent", "delete", made["id"], "--yes").code == 0
    assert state(running, made["id"]) == "bin"


def test_what_a_tool_did_is_shown_and_undone(ask: Command, running: Client, ivo: str) -> None:
    key = note(running, ivo, "the inn is red")
    body = {"memory_id": key, "new_content": "the inn is blue"}
    call = {"soul": ivo, "actor": "archivist", "arguments": body}
    running.ask("POST", "/tools/update_memory_node", call)
    shown = ask("undo", "--soul", "Ivo")
    assert f"archivist: changed {key}" in shown.out
    entry = ask("undo", "--soul", "Ivo", "--json").json()["audit"][0]["id"]

    result = ask("undo", "--soul", "Ivo", "--change", entry, "--json").json()
    assert (result["changes"], result["memories"]) == ([entry], [key])
    assert running.ask("GET", f"/memories/{key}")["text"] == "the inn is red"
    running.ask("POST", "/tools/update_memory_node", call)
    assert ask("undo", "--soul", "Ivo", "--since", "5m").code == 0
    assert running.ask("GET", f"/memories/{key}")["text"] == "the inn is red"
    assert ask("undo", "--soul", "Ivo", "--since", "2999-01-01").code == 0


@pytest.mark.parametrize(
    "argv",
    [
        ["bin", "restore"],
        ["bin", "restore", "m1", "--all"],
        ["bin", "list", "m1"],
        ["permanent", "add"],
        ["permanent", "add", "text"],
        ["permanent", "list", "m1"],
        ["undo", "--soul", "Ivo", "--since", "yesterday"],
        ["undo", "--soul", "Ivo", "--change", "c1"],
    ],
)
def test_what_cannot_be_meant_is_said(ask: Command, ivo: str, argv: list[str]) -> None:
    ended = ask(*argv)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err


def test_it_is_said_in_chinese(ask: Command, running: Client, ivo: str) -> None:
    key = note(running, ivo, "红色的风筝", permanent=True)
    assert "笔记, 永久" in ask("permanent", "list", "--soul", "Ivo", "--lang", "zh").out
    ask("permanent", "delete", key, "--yes")
    assert "已取回 1 条" in ask("bin", "restore", key, "--lang", "zh").out
    assert "您" in ask("undo", "--soul", "Ivo", "--lang", "zh").out
