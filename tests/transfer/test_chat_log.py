"""SillyTavern chat files of any age are read, with their broken lines listed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.dialogue import Fork, Role, SentMessage
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.engine.exchange.chat_import import sent_messages, stop_of_piece
from soulmem.transfer import chat_log
from soulmem.transfer.chat_log import ChatLog, as_branch, chat_id_for, read_chat_log

SOULS = (SoulId("s1"),)
HEADER: dict[str, Any] = {
    "user_name": "Ann",
    "character_name": "Bel",
    "create_date": "x",
    "chat_metadata": {},
}


def said(text: str, *, user: bool = False, **more: Any) -> dict[str, Any]:
    date = "2025-03-01T10:20:30.000Z"
    return {
        "name": "Ann" if user else "Bel",
        "is_user": user,
        "send_date": date,
        "mes": text,
        **more,
    }


def as_lines(*rows: dict[str, Any] | bytes) -> list[bytes]:
    return [row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows]


def read(*rows: dict[str, Any] | bytes, title: str = "night") -> ChatLog:
    return read_chat_log(as_lines(*rows), title, SOULS, timezone.utc)


def test_a_plain_chat() -> None:
    log = read(HEADER, said("Hello."), said("Hi, Bel.", user=True))
    assert (log.title, log.persona, log.broken, log.undated) == ("night", "Ann", (), 0)
    assert [(m.role, m.speaker, m.text, m.hidden, m.swipe) for m in log.messages] == [
        (Role.CHARACTER, "Bel", "Hello.", False, 0),
        (Role.USER, "Ann", "Hi, Bel.", False, 0),
    ]
    assert log.messages[0].sent_at == datetime(2025, 3, 1, 10, 20, 30, tzinfo=timezone.utc)


def test_the_same_file_gives_the_same_ids_and_another_soul_or_title_other_ones() -> None:
    first, again = (
        read(HEADER, said("Hello."), said("So.")),
        read(HEADER, said("Hello."), said("So.")),
    )
    assert first == again
    assert len({m.slot for m in first.messages}) == 2
    assert read(HEADER, said("Hello."), title="day").chat != first.chat
    assert chat_id_for("night", [SoulId("s2")]) != first.chat
    assert chat_id_for("night", [SoulId("b"), SoulId("a")]) == chat_id_for(
        "night", [SoulId("a"), SoulId("b")]
    )


def test_a_line_that_heals_later_does_not_move_the_slots_after_it() -> None:
    rows = [said(f"{n}.", send_date=f"2025-03-01T10:20:{n}0Z") for n in range(3)]
    torn = read(HEADER, rows[0], b'{"mes": "Tw\n', rows[2])
    whole = read(HEADER, *rows)
    assert [m.slot for m in torn.messages] == [
        whole.messages[0].slot,
        whole.messages[2].slot,
    ]


def test_broken_lines_are_reported_with_their_number_and_stop_nothing() -> None:
    log = read(
        HEADER,
        said("One."),
        b"{oops\n",
        b"\n",
        b"[1]\n",
        b"\xff\xfe\n",
        {"name": "Bel"},
        said("Two."),
        {"mes": 3},
    )
    assert [m.text for m in log.messages] == ["One.", "Two."]
    assert [(b.number, b.reason) for b in log.broken] == [
        (3, "not_json"),
        (5, "not_an_object"),
        (6, "not_utf8"),
        (7, "no_text"),
        (9, "no_text"),
    ]


def test_a_line_nested_beyond_reason_is_only_broken() -> None:
    log = read(HEADER, b"[" * 100_000 + b"\n", said("One."))
    assert [b.number for b in log.broken] == [2]
    assert len(log.messages) == 1


def test_a_file_without_header_or_with_a_byte_order_mark() -> None:
    assert [m.text for m in read(said("One."), said("Two.")).messages] == [
        "One.",
        "Two.",
    ]
    marked = read(b"\xef\xbb\xbf" + json.dumps(HEADER).encode(), said("One."))
    assert (marked.broken, len(marked.messages)) == ((), 1)


def test_names_missing_from_messages_come_from_the_header_unless_it_says_unused() -> None:
    row = {"mes": "Hi.", "is_user": True}
    assert read(HEADER, row).messages[0].speaker == "Ann"
    newer = {"chat_metadata": {}, "user_name": "unused", "character_name": "unused"}
    log = read(newer, row, said("Hello."))
    assert [m.speaker for m in log.messages] == ["", "Bel"]
    assert log.persona == ""


def test_the_shown_swipe_is_the_message() -> None:
    log = read(HEADER, said("B", swipes=["A", "B", "C"], swipe_id=1), said("D", swipe_id=None))
    assert [(m.text, m.swipe) for m in log.messages] == [("B", 1), ("D", 0)]


def test_roles_of_narrator_host_and_hidden_messages() -> None:
    log = read(
        HEADER,
        said("Rain.", extra={"type": "narrator"}),
        said("note to self", is_system=True, extra={"type": "comment"}),
        said("An old line.", is_system=True),
        said("Mine.", user=True, is_system=True, extra={}),
        said("Older ST.", is_system="", extra=None),
        said("Thunder.", is_system=True, extra={"type": "narrator"}),
    )
    assert [(m.role, m.hidden) for m in log.messages] == [
        (Role.NARRATOR, False),
        (Role.SYSTEM, False),
        (Role.CHARACTER, True),
        (Role.USER, True),
        (Role.CHARACTER, False),
        (Role.NARRATOR, True),
    ]


def test_a_group_chat_keeps_who_spoke() -> None:
    log = read(
        {"chat_metadata": {}},
        said("One.", name="Bel", original_avatar="Bel.png", extra={"gen_id": 1}),
        said("Two.", name="Cas", original_avatar="Cas.png", extra={"gen_id": 1}),
        said("Three.", user=True),
    )
    assert [(m.role, m.speaker) for m in log.messages] == [
        (Role.CHARACTER, "Bel"),
        (Role.CHARACTER, "Cas"),
        (Role.USER, "Ann"),
    ]


def test_slots_that_the_extension_left_are_kept_unless_copied_or_malformed() -> None:
    log = read(
        HEADER,
        said("One.", extra={"soulmem": {"id": "m-1"}}),
        said("Two.", extra={"soulmem": {"id": "m-1"}}),
        said("Three.", extra={"soulmem": {"id": "no id!"}}),
        said("Four.", extra={"soulmem": "m-9"}),
        said("Five.", extra={}, swipe_info=[None, {"extra": {"soulmem": {"id": "m-5"}}}]),
    )
    slots = [m.slot for m in log.messages]
    assert (slots[0], slots[4]) == ("m-1", "m-5")
    assert len(set(slots)) == 5
    assert "no id!" not in slots


def test_a_minted_slot_is_the_one_the_extension_would_mint() -> None:
    [first, second] = read(HEADER, said("One."), said("Two.")).messages
    seed = "c\nBel\n2025-03-01T10:20:30.000Z"
    assert first.slot == "m" + hashlib.sha256(f"{seed}\n0".encode()).hexdigest()[:20]
    assert second.slot == "m" + hashlib.sha256(f"{seed}\n1".encode()).hexdigest()[:20]
    [bare] = read({"mes": "x", "is_user": True, "send_date": 1700000000000.0}).messages
    assert bare.slot == "m" + hashlib.sha256(b"u\n\n1700000000000\n0").hexdigest()[:20]


def test_many_messages_of_one_date_take_a_hash_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = list[bytes]()

    def counting(seed: bytes) -> Any:
        made.append(seed)
        return hashlib.new("sha256", seed)

    rows = [said(f"Line {number}.") for number in range(300)]
    stamped = {"extra": {"soulmem": {"id": str(read(HEADER, *rows).messages[7].slot)}}}
    monkeypatch.setattr("soulmem.transfer.chat_log.hashlib.sha256", counting)
    found = chat_log.slots_of([{**rows[0], **stamped}, *rows])
    assert len(set(found)) == len(found) == len(rows) + 1
    assert len(made) <= len(rows) + 2


def test_the_record_of_the_extension_names_the_chat() -> None:
    record = {
        "chat": "chat-1",
        "name": "night",
        "parent": {"chat": "chat-0", "fork_slot": "m-0"},
    }
    log = read({"chat_metadata": {"soulmem": record}}, said("One."))
    assert (log.chat, log.copied_from) == ("chat-1", None)
    assert log.parent == Fork(ChatId("chat-0"), SlotId("m-0"))
    renamed = read({"chat_metadata": {"soulmem": record}}, said("One."), title="day")
    assert (renamed.chat, renamed.copied_from) == ("chat-1", None)


def test_who_was_present_is_taken_over_for_souls_that_the_file_knows() -> None:
    stamped = said("Only Cas hears this.", extra={"soulmem": {"id": "m2", "present": ["cas"]}})
    log = read(
        {"chat_metadata": {"soulmem": {"chat": "c", "cast": ["bel", "cas"]}}},
        said("All."),
        stamped,
    )

    def present(*souls: str) -> list[Any]:
        return [m.present for m in sent_messages(log, [SoulId(soul) for soul in souls], 0, 2)]

    assert present("bel", "cas") == [None, ("cas",)]
    assert present("bel") == [None, ()]
    assert present("cas", "newcomer") == [None, None]
    assert present("bel", "newcomer") == [None, ("newcomer",)]
    assert [m.present for m in sent_messages(read(said("All.")), SOULS, 0, 1)] == [None]


def test_a_record_that_a_branch_copied_from_its_parent_is_not_its_own() -> None:
    metadata = {"main_chat": "night", "soulmem": {"chat": "chat-1", "name": "night"}}
    log = read({"chat_metadata": metadata}, said("One."), title="night - Branch #1")
    assert (log.chat, log.copied_from) == (
        chat_id_for("night - Branch #1", SOULS),
        "chat-1",
    )


def test_lone_surrogates_become_the_replacement_character() -> None:
    log = read(
        HEADER,
        b'{"mes": "a\\ud83db", "is_user": false}\n',
        b'{"mes": "\\ud83d\\ude00"}\n',
    )
    assert [m.text for m in log.messages] == ["a\ufffdb", "\U0001f600"]


def test_dates_without_meaning_are_counted() -> None:
    log = read(HEADER, said("One.", send_date="soon"), said("Two."))
    assert log.undated == 1
    assert log.messages[0].sent_at is None


@given(st.text(max_size=200).filter(lambda t: not any("\ud800" <= c <= "\udfff" for c in t)))
def test_the_hash_is_the_contracts(text: str) -> None:
    [message] = read(HEADER, said(text)).messages
    assert message.text == text
    assert message.hash == hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def test_messages_are_sent_as_they_were_read() -> None:
    log = read(
        HEADER,
        *(said(f"Line {n}.") for n in range(5)),
        said("Six.", is_system=True, swipe_id=2),
    )
    sent = sent_messages(log, SOULS, 2, 6)
    names = [each.name for each in fields(SentMessage) if each.name != "present"]
    for item, message in zip(sent, log.messages[2:], strict=True):
        assert [getattr(item, name) for name in names] == [getattr(message, name) for name in names]
    assert (sent[-1].hidden, sent[-1].swipe) == (True, 2)


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(1, 400))
def test_pieces_are_of_nearly_the_same_length(start: int, count: int, size: int) -> None:
    bounds, total = [start], start + count
    while bounds[-1] < total:
        bounds.append(stop_of_piece(bounds[-1], total, size))
    lengths = [after - before for before, after in pairwise(bounds)]
    assert bounds[-1] == total
    assert not lengths or (max(lengths) <= size and max(lengths) - min(lengths) <= 1)


@pytest.mark.parametrize(
    ("row", "field", "value"),
    [
        ({"swipe_id": 10**40}, "swipe", 0),
        ({"name": "x" * 5000}, "speaker", "x" * 2000),
        ({"send_date": float("nan")}, "sent_at", None),
        ({"send_date": 10**40}, "sent_at", None),
    ],
)
def test_what_no_request_could_hold_is_left_out(
    row: dict[str, Any], field: str, value: Any
) -> None:
    [message] = read(HEADER, said("One.", **row)).messages
    assert getattr(message, field) == value


def test_a_line_of_absurd_length_is_only_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chat_log, "_LONGEST", 500)
    log = read(HEADER, said("x" * 600), said("Two."))
    assert [(b.number, b.reason) for b in log.broken] == [(2, "too_long")]
    assert [m.text for m in log.messages] == ["Two."]


def test_a_branch_forks_at_the_last_message_of_the_beginning_it_shares() -> None:
    rows = [said(f"{n}.", send_date=f"2025-03-01T10:20:{n}0Z") for n in range(5)]
    parent = read(HEADER, *rows[:3], title="night")
    metadata = {"chat_metadata": {"main_chat": "night"}}
    log = read(
        metadata,
        rows[0],
        {**rows[1], "mes": "Edited here."},
        rows[3],
        rows[2],
        title="b1",
    )
    assert log.main_chat == "night"
    branch = as_branch(log, parent.chat, {m.slot for m in parent.messages})
    assert branch.parent == Fork(parent.chat, parent.messages[1].slot)
    assert [m.text for m in branch.messages] == ["0.", "Edited here.", "3.", "2."]


def test_a_chat_that_shares_no_beginning_with_its_parent_is_no_branch() -> None:
    log = read(HEADER, said("One."))
    assert as_branch(log, ChatId("p"), {SlotId("x")}) is log
    assert as_branch(log, ChatId("p"), set()) is log


def test_an_empty_file_is_an_empty_chat() -> None:
    assert read().messages == ()
    assert read(HEADER).messages == ()


def test_a_file_from_disk_is_read_by_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "night.jsonl"
    path.write_bytes(b"".join(as_lines(HEADER, said("One."), said("Two, with\u2028a separator."))))
    with path.open("rb") as file:
        log = read_chat_log(file, path.stem, SOULS)
    assert [m.text for m in log.messages] == ["One.", "Two, with\u2028a separator."]
