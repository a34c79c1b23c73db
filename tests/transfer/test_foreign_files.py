"""Files of other programs are read, or refused by what they are; never taken for something else."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from typing import Any

import pytest

from soulmem.domain.errors import Unprocessable
from soulmem.transfer.book import read_world
from soulmem.transfer.card import card_data, read_card
from soulmem.transfer.chat_log import read_chat_file
from soulmem.transfer.detect import CARD, ST_CHAT, WORLD_INFO, format_of
from soulmem.transfer.lore import Cast
from tests.transfer.cards import chunk, packed, picture, v2

CAST = Cast("Mira", "Ann")
HEADER = {"user_name": "Ann", "character_name": "Mira", "chat_metadata": {}}
WILLOW = "The willow grows on a grave."
AGNAI = {
    "name": "Exported",
    "greeting": "The well is dry.",
    "scenario": "",
    "sampleChat": "",
    "messages": [
        {"_id": "a", "characterId": "c", "name": "Mira", "msg": "The well is dry."},
        {"_id": "b", "userId": "u", "msg": "Then we dig."},
    ],
}


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def lines(*rows: Any, encoding: str = "utf-8") -> bytes:
    texts = (json.dumps(row, ensure_ascii=False) for row in rows)
    return "\n".join(texts).encode(encoding)


def said(text: Any) -> dict[str, Any]:
    return {"name": "Mira", "is_user": False, "mes": text}


def archive(name: str, data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed_file:
        packed_file.writestr(name, data)
    return file.getvalue()


def stated(book: Any) -> list[str]:
    return [each.text for each in read_world(encoded(book), "Isles", CAST).statements]


@pytest.mark.parametrize(
    ("chat", "program"),
    [
        (AGNAI, "Agnai"),
        ({"histories": {"histories": [{"msgs": [{"text": "Hi."}]}]}}, "Character.AI"),
        ({"data": [["a", "b"]], "data_visible": [["a", "b"]]}, "text-generation-webui"),
        ({"internal": [["a", "b"]], "visible": [["a", "b"]]}, "text-generation-webui"),
        ({"prompt": "Once", "actions": ["b"], "gamestarted": True}, "KoboldAI"),
        ({"type": "risuChat", "data": {"message": [{"data": "Hi."}]}}, "RisuAI"),
        ({"turns": [{"sender": "Mira", "text": "Hi."}]}, "another program"),
        ([{"role": "user", "content": "Hi."}], "another program"),
    ],
)
def test_a_chat_of_another_program_is_refused_by_name(chat: Any, program: str) -> None:
    data = encoded(chat)
    with pytest.raises(Unprocessable, match=f"chat of {program}.*SillyTavern"):
        format_of(data, ".json")
    with pytest.raises(Unprocessable, match=f"chat of {program}.*SillyTavern"):
        read_chat_file(data, "chat", [])


def test_lines_of_another_program_are_refused_by_what_they_are() -> None:
    data = lines({"role": "user", "content": "Hi."}, {"role": "ai", "content": "Ho."})
    with pytest.raises(Unprocessable, match="chat of another program"):
        read_chat_file(data, "chat", [])


def test_a_chat_is_no_card() -> None:
    with pytest.raises(Unprocessable, match="chat of Agnai"):
        card_data(encoded(AGNAI))


def test_messages_inside_of_objects_are_read() -> None:
    data = lines(HEADER, said({"message": "The well is dry."}), said("Then we dig."))
    log = read_chat_file(data, "chat", [])
    assert [m.text for m in log.messages] == ["The well is dry.", "Then we dig."]
    assert log.broken == ()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_file_that_names_its_encoding_is_read(encoding: str) -> None:
    data = lines(HEADER, said("Café."), said("Où?"), encoding=encoding)
    assert format_of(data, ".json") == ST_CHAT
    log = read_chat_file(data, "chat", [])
    assert [m.text for m in log.messages] == ["Café.", "Où?"]


def test_a_file_in_latin_1_is_refused_by_its_first_wrong_byte() -> None:
    data = lines(HEADER, said("Plain."), said("Café."), said("Où?"), encoding="latin-1")
    with pytest.raises(Unprocessable, match=r"0xe9 at \d+ is no UTF-8: save"):
        read_chat_file(data, "chat", [])


def test_one_damaged_line_is_left_out_of_a_file_in_utf_8() -> None:
    data = lines(HEADER, said("Café.")) + b"\n" + lines(said("Où?"), encoding="latin-1")
    log = read_chat_file(data, "chat", [])
    assert [m.text for m in log.messages] == ["Café."]
    assert [line.reason for line in log.broken] == ["not_utf8"]


def test_a_card_with_bytes_behind_its_picture_is_read() -> None:
    data = picture(chunk(b"tEXt", b"chara\x00" + packed(v2()))) + b"appended by a site"
    assert card_data(data)["name"] == "Mira"


@pytest.mark.parametrize(
    "text",
    [
        base64.urlsafe_b64encode(encoded({**v2(), "x": "~~~~????>>>>"})),
        base64.b64encode(encoded(v2())).rstrip(b"="),
        base64.encodebytes(encoded(v2())),
        encoded(v2()),
    ],
)
def test_a_card_is_read_in_any_spelling_of_its_text(text: bytes) -> None:
    assert card_data(picture(chunk(b"tEXt", b"chara\x00" + text)))["name"] == "Mira"


def test_a_card_in_an_archive_is_read() -> None:
    book = {"entries": [{"keys": ["willow"], "content": f"@@depth 4\n{WILLOW}"}]}
    data = archive("card.json", encoded(v2(character_book=book)))
    for file in (data, b"\xff\xd8\xff\xe0 a picture before it" + data):
        assert format_of(file, ".charx") == CARD
        lore = read_card(file, CAST)
        assert [each.text for each in lore.statements] == [WILLOW]


def test_an_archive_without_a_card_is_refused() -> None:
    with pytest.raises(Unprocessable, match=r"holds no card\.json"):
        format_of(archive("other.txt", b"x"), ".charx")
    data = archive("card.json", encoded(v2()))
    broken = data.replace(b"chara_card_v2", b"chara_card_v9", 1)
    with pytest.raises(Unprocessable, match="cannot be unpacked"):
        card_data(broken)


def test_a_card_without_a_name_says_so() -> None:
    for data in (encoded(v2(name=" ")), encoded({"description": "x", "name": None})):
        with pytest.raises(Unprocessable, match="names no character"):
            format_of(data, ".json")


def test_a_card_of_older_fields_is_read() -> None:
    card = card_data(encoded({"char_name": "Mira", "char_persona": "Tall."}))
    assert (card["name"], card["description"]) == ("Mira", "Tall.")


def test_a_card_without_a_book_is_read() -> None:
    assert read_card(encoded(v2(character_book=None)), CAST).broken == ()


@pytest.mark.parametrize(
    "book",
    [
        {
            "lorebookVersion": 5,
            "entries": [{"text": WILLOW, "keys": ["willow"], "displayName": "Willow"}],
        },
        {
            "kind": "memory",
            "name": "Isles",
            "entries": [{"name": "Willow", "entry": WILLOW, "keywords": ["willow"]}],
        },
        {
            "type": "risu",
            "data": [{"key": "willow, tree", "comment": "Willow", "content": WILLOW}],
        },
        {"entries": [{"keys": ["willow"], "content": f"@@depth 4\n@@@x\n{WILLOW}"}]},
    ],
)
def test_a_book_of_another_program_is_read(book: Any) -> None:
    assert format_of(encoded(book), ".json") == WORLD_INFO
    assert stated(book) == [WILLOW]


def test_an_entry_that_a_decorator_switches_off_is_left_out() -> None:
    book = {"entries": [{"keys": ["willow"], "content": f"@@dont_activate\n{WILLOW}"}]}
    lore = read_world(encoded(book), "Isles", CAST)
    assert (lore.statements, lore.disabled) == ((), 1)


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".soulmem"])
def test_our_own_export_names_the_command_that_reads_it(ending: str) -> None:
    head = {
        "type": "bundle",
        "version": 1,
        "soul": "s1",
        "made": "2026-01-01T00:00:00Z",
    }
    data = lines(head, {"type": "end", "lines": 1})
    with pytest.raises(Unprocessable, match="soulmem restore"):
        format_of(data, ending)
    with pytest.raises(Unprocessable, match="soulmem restore"):
        read_chat_file(data, "Mira", ())
