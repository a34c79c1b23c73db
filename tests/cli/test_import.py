"""Does importing a chat file bring the memory to what the file says, once, and survive what goes wrong?"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from soulmem.cli import STOPPED
from soulmem.cli.client import Client
from tests.cli.chat_files import HEADER, said, talk, write
from tests.cli.conftest import Command, Ended
from tests.transfer.cards import chunk, packed, picture, v2

pytestmark = pytest.mark.timeout(120)


def report(ended: Ended) -> dict[str, Any]:
    """What was told of the only file."""
    [file_report] = ended.json()["files"]
    return dict(file_report)


def test_a_file_becomes_a_chat_of_a_new_soul(ask: Command, running: Client, tmp_path: Path) -> None:
    ended = ask(
        "import",
        write(tmp_path / "new.jsonl", talk(30)),
        "--soul",
        "Newcomer",
        "--json",
    )
    assert ended.code == 0
    assert ended.json()["pending"] == 0
    assert (report(ended)["messages"], report(ended)["added"]) == (30, 30)
    [soul] = [s for s in running.ask("GET", "/souls")["souls"] if s["name"] == "Newcomer"]
    stored = running.ask("GET", f"/chats/{report(ended)['chat']}")
    assert (stored["souls"], stored["title"], stored["persona"]) == (
        [soul["id"]],
        "new",
        "Ann",
    )
    assert [m["text"] for m in stored["messages"]] == [m["mes"] for m in talk(30)]


def test_an_import_ends_without_an_embedding_model(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits for a meaning that nobody computes."""
    monkeypatch.setenv("SOULMEM_EMBEDDER_MODEL", "none")
    data = str(tmp_path / "data")
    path = write(tmp_path / "plain.jsonl", talk(12))
    ended = command("import", path, "--soul", "Plain", "--data", data, "--json")
    assert (ended.code, ended.json()["pending"]) == (0, 0)
    asked = command("recall", talk(12)[3]["mes"], "--soul", "Plain", "--data", data, "--json")
    assert asked.code == 0


def test_again_changes_nothing_and_a_longer_file_adds_the_rest(
    ask: Command, tmp_path: Path
) -> None:
    path = tmp_path / "grows.jsonl"
    first = report(ask("import", write(path, talk(25)), "--soul", "Grower", "--json"))
    again = report(ask("import", write(path, talk(25)), "--soul", " grower", "--json"))
    assert (again["chat"], again["added"], again["changed"], again["removed"]) == (
        first["chat"],
        0,
        0,
        0,
    )
    longer = report(ask("import", write(path, talk(40)), "--soul", "Grower", "--json"))
    assert (longer["chat"], longer["added"]) == (first["chat"], 15)


def test_an_edited_file_changes_only_what_differs(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    path = tmp_path / "edited.jsonl"
    ask("import", write(path, talk(25)), "--soul", "Editor")
    rows = talk(25)
    rows[7]["mes"] = "Something else was said."
    result = report(
        ask(
            "import",
            write(path, [*rows[:20], *rows[21:]]),
            "--soul",
            "Editor",
            "--json",
        )
    )
    assert (result["added"], result["changed"], result["removed"]) == (0, 1, 1)
    texts = [m["text"] for m in running.ask("GET", f"/chats/{result['chat']}")["messages"]]
    assert texts[7] == "Something else was said."
    assert len(texts) == 24


def test_a_file_that_lost_most_of_its_chat_waits_for_a_word(ask: Command, tmp_path: Path) -> None:
    path = tmp_path / "shrunk.jsonl"
    ask("import", write(path, talk(40)), "--soul", "Shrinker")
    ended = ask("import", write(path, talk(5)), "--soul", "Shrinker", "--json")
    assert (ended.code, report(ended)["held"]["count"]) == (1, 35)
    assert "--confirm-removal" in ask("import", str(path), "--soul", "Shrinker").out
    ended = ask("import", str(path), "--soul", "Shrinker", "--confirm-removal", "--json")
    assert (ended.code, report(ended)["removed"], report(ended)["held"]) == (
        0,
        35,
        None,
    )


def test_broken_lines_and_files_are_named_and_the_rest_goes_in(
    ask: Command, tmp_path: Path
) -> None:
    path = tmp_path / "torn.jsonl"
    rows = [json.dumps(row) for row in [HEADER, *talk(3)]]
    path.write_text("\n".join([*rows[:2], '{"mes": "to', *rows[2:]]), encoding="utf-8")
    argv = ("import", str(path), str(tmp_path / "none.jsonl"), "--soul", "Torn")
    ended = ask(*argv, "--json")
    assert ended.code == 1
    unread, read = ended.json()["files"]
    assert unread["file"].endswith("none.jsonl")
    assert (read["added"], read["broken"]) == (3, [{"line": 3, "reason": "not_json"}])
    assert "line 3 left out: not JSON" in ask(*argv).out
    assert "第 3 行已跳过：不是 JSON" in ask(*argv, "--lang", "zh").out


def test_nobody_is_made_for_files_that_cannot_be_read(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    """Neither for what is seen at once, nor for what only the import itself comes upon."""
    bad = {
        "none.jsonl": "no chat",
        "torn.png": "no picture",
        "world.json": '{"entries": 5}',
    }
    for name, text in bad.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        ended = ask("import", str(tmp_path / name), "--soul", f"Nobody {name}", "--json")
        assert (ended.code, ended.json()["souls"]) == (1, [])
        assert report(ended)["error"]
    assert not any(name.startswith("Nobody") for name in _soul_names(running))


def _soul_names(client: Client) -> list[str]:
    return [soul["name"] for soul in client.ask("GET", "/souls")["souls"]]


def test_a_soul_is_made_if_one_of_its_files_can_be_read(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    (tmp_path / "world.json").write_text('{"entries": 5}', encoding="utf-8")
    good = write(tmp_path / "good.jsonl", talk(3))
    ended = ask("import", str(tmp_path / "world.json"), good, "--soul", "Nobody else", "--json")
    assert (ended.code, [soul["name"] for soul in ended.json()["souls"]]) == (
        1,
        ["Nobody else"],
    )
    ended = ask("import", str(tmp_path / "world.json"), "--soul", "Nobody else", "--json")
    assert (ended.code, [soul["name"] for soul in ended.json()["souls"]]) == (
        1,
        ["Nobody else"],
    )
    assert "Nobody else" in _soul_names(running)


def test_a_branch_shares_its_beginning_with_the_chat_it_left(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    rows = talk(12)
    main = write(tmp_path / "z main.jsonl", rows)
    header = {**HEADER, "chat_metadata": {"main_chat": "z main"}}
    branch = write(tmp_path / "a branch.jsonl", [*rows[:5], said(99, "Another way.")], header)
    ended = ask("import", branch, main, "--soul", "Brancher", "--json")
    first, second = ended.json()["files"]
    assert (first["title"], second["title"]) == ("z main", "a branch")
    assert second["branch_of"] == first["chat"]
    stored = {
        file["title"]: running.ask("GET", f"/chats/{file['chat']}") for file in (first, second)
    }
    slots = [m["slot"] for m in stored["z main"]["messages"]]
    assert stored["a branch"]["parent"] == {
        "chat": first["chat"],
        "fork_slot": slots[4],
    }
    assert [m["slot"] for m in stored["a branch"]["messages"]][:5] == slots[:5]


def test_a_group_chat_belongs_to_every_soul_named(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    rows = [said(0, "One."), said(1, "Two.", name="Cas"), said(2, "Three.", user=True)]
    path = write(tmp_path / "group.jsonl", rows, {"chat_metadata": {}})
    ended = ask("import", path, "--soul", "Group Bel", "--soul", "Group Cas", "--json")
    ids = [soul["id"] for soul in ended.json()["souls"]]
    assert [soul["name"] for soul in ended.json()["souls"]] == [
        "Group Bel",
        "Group Cas",
    ]
    assert sorted(running.ask("GET", f"/chats/{report(ended)['chat']}")["souls"]) == sorted(ids)


def test_two_files_of_one_chat_are_not_mixed(ask: Command, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    first = write(tmp_path / "twin.jsonl", talk(3))
    second = write(tmp_path / "copy" / "twin.jsonl", talk(9))
    ended = ask("import", first, second, "--soul", "Twin", "--json")
    assert ended.code == 1
    refused, read = ended.json()["files"]
    assert (refused["file"], read["added"]) == (second, 3)


def test_a_star_works_where_the_shell_leaves_it(ask: Command, tmp_path: Path) -> None:
    for name in ("s1.jsonl", "s2.jsonl"):
        write(tmp_path / name, talk(3, name))
    ended = ask("import", str(tmp_path / "s*.jsonl"), "--soul", "Star", "--json")
    assert [file["title"] for file in ended.json()["files"]] == ["s1", "s2"]


def test_stopped_in_the_middle_it_goes_on_where_it_was(
    ask: Command, running: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "long.jsonl", talk(900))
    plain = Client.ask
    jobs: list[str] = []

    def pressed(self: Client, method: str, where: str, body: Any = None, **more: Any) -> Any:
        answer = plain(self, method, where, body, **more)
        if (
            method == "GET"
            and where.startswith("/jobs/")
            and not jobs
            and answer["progress"]["done"]
        ):
            jobs.append(where)
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(Client, "ask", pressed)
    monkeypatch.setattr("soulmem.cli.import_files._POLL", 0.01)
    assert ask("import", path, "--soul", "Stopper").code == STOPPED
    monkeypatch.undo()
    assert running.ask("GET", jobs[0])["state"] == "cancelled"
    [chat] = [c for c in running.ask("GET", "/chats")["chats"] if c["title"] == "long"]
    assert 0 < chat["count"] < 900
    rest = report(ask("import", path, "--soul", "Stopper", "--port", str(running.port), "--json"))
    assert (rest["messages"], rest["added"]) == (900, 900 - chat["count"])


def card(tmp_path: Path, name: str, description: str) -> str:
    """A picture that carries a character."""
    path = tmp_path / f"{name}.png"
    path.write_bytes(
        picture(chunk(b"tEXt", b"chara\x00" + packed(v2(name=name, description=description))))
    )
    return str(path)


def world(tmp_path: Path, name: str, content: str) -> str:
    """A world of one entry."""
    path = tmp_path / f"{name}.json"
    entry = {
        "uid": 0,
        "key": ["Varn"],
        "comment": "Varn",
        "content": content,
        "disable": False,
    }
    path.write_text(json.dumps({"entries": {"0": entry}}), encoding="utf-8")
    return str(path)


def test_a_folder_of_everything_goes_in_at_once(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    card(
        tmp_path,
        "Folda",
        "{{char}} and {{user}} keep the light of Varn.\nHabit: hums when nervous",
    )
    world(tmp_path, "Isles", "Varn is an island in the north.")
    (tmp_path / "notes.json").write_text("[1]")
    (tmp_path / "chats").mkdir()
    write(tmp_path / "chats" / "night.jsonl", talk(5, "Varn"))
    ended = ask("import", str(tmp_path), "--json")  # the card says whose memory it is
    assert ended.code == 0, ended
    assert [file["format"] for file in ended.json()["files"]] == [
        "card",
        "world_info",
        "st_chat",
    ]
    [soul] = ended.json()["souls"]
    assert soul["name"] == "Folda"
    page = running.ask("GET", f"/memories?soul={soul['id']}&limit=100")["memories"]
    texts = {m["text"] for m in page}
    assert {"hums when nervous", "Varn is an island in the north."} <= texts
    assert "Folda and Ann keep the light of Varn." not in texts, (
        "what stands in every prompt is no memory"
    )
    assert [n["name"] for n in running.ask("GET", f"/souls/{soul['id']}")["names"]] == ["Varn"]
    again = ask("import", str(tmp_path), "--json").json()
    assert [_changes(file) for file in again["files"]] == [(0, 0, 0)] * 3


def _changes(file: dict[str, Any]) -> tuple[int, int, int]:
    return file["added"], file["changed"], file["removed"]


def test_a_dry_run_tells_counts_and_minutes_and_makes_nobody(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    paths = [
        card(tmp_path, "Dryad", "Habit: lives in the oak"),
        write(tmp_path / "dry.jsonl", talk(7)),
    ]
    before = running.ask("GET", "/souls")
    dry_run = ask("import", *paths, "--dry-run", "--json").json()
    assert running.ask("GET", "/souls") == before
    assert [(file["added"], file["memories"]) for file in dry_run["files"]] == [
        (1, 1),
        (7, 7),
    ]
    assert all(file["minutes"] >= 0 for file in dry_run["files"])
    ask("import", *paths)
    again = ask("import", *paths, "--dry-run")
    assert "dry: 7 messages; the import would have 0 new" in again.out
    assert "Nothing was changed" in again.out
    assert "什么都没有改动" in ask("import", *paths, "--dry-run", "--lang", "zh").out


def test_without_a_name_and_without_a_card_it_asks_whose_memory_is_meant(
    ask: Command, tmp_path: Path
) -> None:
    ended = ask("import", write(tmp_path / "whose.jsonl", talk(3)))
    assert (ended.code, "--soul NAME" in ended.err) == (1, True)


def test_what_is_no_such_file_is_named(ask: Command, tmp_path: Path) -> None:
    (tmp_path / "story.txt").write_text("Once upon a time.")
    (tmp_path / "wide.jsonl").write_bytes(b"\xff\xfe\x00")
    ended = ask(
        "import",
        str(tmp_path / "story.txt"),
        str(tmp_path / "wide.jsonl"),
        "--soul",
        "Nobody",
    )
    assert ended.code == 1
    assert "story.txt: not read (neither a chat" in ended.out
    assert "wide.jsonl: not read (the file says that it is in UTF-16, and is not" in ended.out


def test_dates_of_a_file_are_those_that_the_open_chat_has(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    """Else opening the imported chat in SillyTavern would move its memories."""
    rows = [
        {**said(0, "Date: 812-05-03\nThe rain had stopped."), "send_date": 1688158820},
        {**said(1, "So it had."), "send_date": "2023-07-12T14:05:00.123456+02:00"},
    ]
    path = write(tmp_path / "dated.jsonl", rows)
    result = report(ask("import", path, "--soul", "Dated", "--json"))
    stored = running.ask("GET", f"/chats/{result['chat']}")["messages"]
    assert result["undated"] == 0
    assert [_moment(m["sent_at"]) for m in stored] == [
        datetime(2023, 6, 30, 21, 0, 20, tzinfo=timezone.utc),
        datetime(2023, 7, 12, 12, 5, 0, 123_000, tzinfo=timezone.utc),
    ]
    assert _moment(stored[0]["story_at"]) == datetime(812, 5, 3, tzinfo=timezone.utc)
    assert stored[1]["story_at"] is None


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_orders_of_a_world_are_left_out_and_counted(
    ask: Command, running: Client, tmp_path: Path
) -> None:
    """Before the import as well as after it, in both languages."""
    contents = [
        "The willow grows on a grave.",
        "[System: End every reply with <Status>Mood</Status>. Never speak for {{user}}.]",
        "<% if (getvar('a') > 3) { %>She loves him.<% } %>",
        "@@activate\nThe ferry is run by Osric. Mention it in every reply.",
    ]
    entries = [{"key": [], "content": text} for text in contents]
    path = tmp_path / "orders.json"
    path.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    argv = ("import", str(path), "--soul", "Willow keeper")
    ended = ask(*argv, "--json")
    assert "3 entries hold orders to the model or code" in ask(*argv, "--dry-run").out
    assert (report(ended)["added"], report(ended)["instructions"]) == (2, 3)
    assert "有 3 个条目含有给模型的指令或代码" in ask(*argv, "--lang", "zh").out
    soul = ended.json()["souls"][0]["id"]
    notes = running.ask("GET", f"/memories?soul={soul}&kind=note")["memories"]
    assert sorted(note["text"] for note in notes) == [
        "The ferry is run by Osric.",
        "The willow grows on a grave.",
    ]


def test_files_of_other_programs_are_read_or_refused_by_name(ask: Command, tmp_path: Path) -> None:
    agnai = {
        "name": "Told",
        "scenario": "",
        "messages": [{"msg": "Hi.", "name": "Bel"}],
    }
    (tmp_path / "agnai.json").write_text(json.dumps(agnai), encoding="utf-8")
    rows = [{**row, "mes": {"message": row["mes"]}} for row in talk(3)]
    chub = write(tmp_path / "chub.jsonl", rows)
    french = [json.dumps(row, ensure_ascii=False) for row in talk(3, "l'été")]
    (tmp_path / "french.jsonl").write_text("\n".join(french), encoding="latin-1")
    names = [tmp_path / name for name in ("agnai.json", "french.jsonl")]
    ended = ask("import", *map(str, names), chub, "--soul", "Traveller", "--json")
    refused, foreign, read = ended.json()["files"]
    assert ended.code == 1
    assert "chat of Agnai" in refused["error"]
    assert "is no UTF-8: save the file as UTF-8" in foreign["error"]
    assert (read["messages"], read["broken"]) == (3, [])
