"""Does importing a chat file bring the memory to what the file says, once, and survive what goes wrong?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from soulmem.cli import STOPPED
from soulmem.cli.client import Client
from tests.cli.chat_files import HEADER, said, talk, write
from tests.cli.conftest import Command, Ended

pytestmark = pytest.mark.timeout(120)


def report(ended: Ended) -> dict[str, Any]:
    """What was told of the only file."""
    [told] = ended.json()["files"]
    return dict(told)


def test_a_file_becomes_a_chat_of_a_new_soul(ask: Command, running: Client, tmp_path: Path) -> None:
    told = ask("import", write(tmp_path / "new.jsonl", talk(30)), "--soul", "Newcomer", "--json")
    assert told.code == 0
    assert told.json()["pending"] == 0
    assert (report(told)["messages"], report(told)["added"]) == (30, 30)
    [soul] = [s for s in running.ask("GET", "/souls")["souls"] if s["name"] == "Newcomer"]
    stored = running.ask("GET", f"/chats/{report(told)['chat']}")
    assert (stored["souls"], stored["title"], stored["persona"]) == ([soul["id"]], "new", "Ann")
    assert [m["text"] for m in stored["messages"]] == [m["mes"] for m in talk(30)]


def test_again_changes_nothing_and_a_longer_file_adds_the_rest(ask: Command, tmp_path: Path) -> None:
    path = tmp_path / "grows.jsonl"
    first = report(ask("import", write(path, talk(25)), "--soul", "Grower", "--json"))
    again = report(ask("import", write(path, talk(25)), "--soul", " grower", "--json"))
    assert (again["chat"], again["added"], again["changed"], again["removed"]) == (first["chat"], 0, 0, 0)
    longer = report(ask("import", write(path, talk(40)), "--soul", "Grower", "--json"))
    assert (longer["chat"], longer["added"]) == (first["chat"], 15)


def test_an_edited_file_changes_only_what_differs(ask: Command, running: Client, tmp_path: Path) -> None:
    path = tmp_path / "edited.jsonl"
    ask("import", write(path, talk(25)), "--soul", "Editor")
    rows = talk(25)
    rows[7]["mes"] = "Something else was said."
    told = report(ask("import", write(path, [*rows[:20], *rows[21:]]), "--soul", "Editor", "--json"))
    assert (told["added"], told["changed"], told["removed"]) == (0, 1, 1)
    texts = [m["text"] for m in running.ask("GET", f"/chats/{told['chat']}")["messages"]]
    assert texts[7] == "Something else was said."
    assert len(texts) == 24


def test_a_file_that_lost_most_of_its_chat_waits_for_a_word(ask: Command, tmp_path: Path) -> None:
    path = tmp_path / "shrunk.jsonl"
    ask("import", write(path, talk(40)), "--soul", "Shrinker")
    told = ask("import", write(path, talk(5)), "--soul", "Shrinker", "--json")
    assert (told.code, report(told)["held"]["count"]) == (1, 35)
    assert "--confirm-removal" in ask("import", str(path), "--soul", "Shrinker").out
    told = ask("import", str(path), "--soul", "Shrinker", "--confirm-removal", "--json")
    assert (told.code, report(told)["removed"], report(told)["held"]) == (0, 35, None)


def test_broken_lines_and_files_are_named_and_the_rest_goes_in(ask: Command, tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    rows = [json.dumps(row) for row in [HEADER, *talk(3)]]
    path.write_text("\n".join([*rows[:2], '{"mes": "to', *rows[2:]]), encoding="utf-8")
    argv = ("import", str(path), str(tmp_path / "none.jsonl"), "--soul", "Torn")
    told = ask(*argv, "--json")
    assert told.code == 1
    unread, read = told.json()["files"]
    assert unread["file"].endswith("none.jsonl")
    assert (read["added"], read["broken"]) == (3, [{"line": 3, "reason": "not_json"}])
    assert "line 3 left out: not JSON" in ask(*argv).out
    assert "第 3 行已跳过：不是 JSON" in ask(*argv, "--lang", "zh").out


def test_a_branch_shares_its_beginning_with_the_chat_it_left(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    rows = talk(12)
    main = write(tmp_path / "z main.jsonl", rows)
    header = {**HEADER, "chat_metadata": {"main_chat": "z main"}}
    branch = write(tmp_path / "a branch.jsonl", [*rows[:5], said(99, "Another way.")], header)
    told = ask("import", branch, main, "--soul", "Brancher", "--json")
    first, second = told.json()["files"]
    assert (first["title"], second["title"]) == ("z main", "a branch")
    assert second["branch_of"] == first["chat"]
    stored = {file["title"]: running.ask("GET", f"/chats/{file['chat']}") for file in (first, second)}
    slots = [m["slot"] for m in stored["z main"]["messages"]]
    assert stored["a branch"]["parent"] == {"chat": first["chat"], "fork_slot": slots[4]}
    assert [m["slot"] for m in stored["a branch"]["messages"]][:5] == slots[:5]


def test_a_group_chat_belongs_to_every_soul_named(ask: Command, running: Client, tmp_path: Path) -> None:
    rows = [said(0, "One."), said(1, "Two.", name="Cas"), said(2, "Three.", user=True)]
    path = write(tmp_path / "group.jsonl", rows, {"chat_metadata": {}})
    told = ask("import", path, "--soul", "Group Bel", "--soul", "Group Cas", "--json")
    ids = [soul["id"] for soul in told.json()["souls"]]
    assert [soul["name"] for soul in told.json()["souls"]] == ["Group Bel", "Group Cas"]
    assert sorted(running.ask("GET", f"/chats/{report(told)['chat']}")["souls"]) == sorted(ids)


def test_two_files_of_one_chat_are_not_mixed(ask: Command, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    first = write(tmp_path / "twin.jsonl", talk(3))
    second = write(tmp_path / "copy" / "twin.jsonl", talk(9))
    told = ask("import", first, second, "--soul", "Twin", "--json")
    assert told.code == 1
    refused, read = told.json()["files"]
    assert (refused["file"], read["added"]) == (second, 3)


def test_a_star_works_where_the_shell_leaves_it(ask: Command, tmp_path: Path) -> None:
    for name in ("s1.jsonl", "s2.jsonl"):
        write(tmp_path / name, talk(3, name))
    told = ask("import", str(tmp_path / "s*.jsonl"), "--soul", "Star", "--json")
    assert [file["title"] for file in told.json()["files"]] == ["s1", "s2"]


def test_stopped_in_the_middle_it_goes_on_where_it_was(
    ask: Command, running: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "long.jsonl", talk(500))
    plain, puts = Client.ask, []

    def pressed(self: Client, method: str, where: str, body: Any = None, **more: Any) -> Any:
        if method == "PUT" and where.startswith("/chats/"):
            puts.append(where)
            if len(puts) == 2:
                raise KeyboardInterrupt
        return plain(self, method, where, body, **more)

    monkeypatch.setattr(Client, "ask", pressed)
    assert ask("import", path, "--soul", "Stopper").code == STOPPED
    monkeypatch.undo()
    stored = len(running.ask("GET", puts[0])["messages"])
    assert 100 < stored < 250
    rest = report(ask("import", path, "--soul", "Stopper", "--port", str(running.port), "--json"))
    assert (rest["messages"], rest["added"]) == (500, 500 - stored)
