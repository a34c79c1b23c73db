"""Reads a SillyTavern chat file (.jsonl)."""

from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from itertools import count
from typing import Any

from soulmem.domain.dialogue import Fork, Message, Role, Version, text_hash
from soulmem.domain.errors import Unprocessable
from soulmem.domain.foreign_json import read_json
from soulmem.domain.ids import ID_PATTERN, ChatId, SlotId, SoulId, derived_id
from soulmem.domain.phrases import phrase
from soulmem.domain.texts import well_formed
from soulmem.language.times.written_dates import story_date
from soulmem.transfer.files import as_utf8, check_text, no_utf8
from soulmem.transfer.foreign_chats import (
    check_lines,
    check_no_bundle,
    check_no_foreign_chat,
    check_no_messages,
)
from soulmem.transfer.send_dates import parse_send_date


def slots_of(rows: Sequence[Mapping[str, Any]]) -> list[SlotId]:
    """The slot of each message: the one stored on it or on a swipe of it, else a hash of speaker and date.

    The extension computes the same hash, so a message has the same slot wherever it is read first.
    """
    slots: list[str | None] = []
    taken: set[str] = set()
    for row in rows:
        ids = (as_id(stamp_of(extra).get("id")) for extra in _extras(row))
        slot = next(filter(None, ids), None)
        # a copied message has the slot of its original
        slots.append(None if slot in taken else slot)
        if slot is not None:
            taken.add(slot)
    attempts = Counter[str]()
    return [
        SlotId(slot or _mint(row, taken, attempts)) for slot, row in zip(slots, rows, strict=True)
    ]


def as_id(value: Any) -> str | None:
    """`value` if it is a valid id, else None."""
    return value if isinstance(value, str) and re.match(ID_PATTERN, value) else None


def stamp_of(extra: Any) -> dict[str, Any]:
    """What the extension stored in the `extra` of a message; empty when nothing."""
    stamp = extra.get("soulmem") if isinstance(extra, dict) else None
    return stamp if isinstance(stamp, dict) else {}


def _extras(row: Mapping[str, Any]) -> Iterator[Any]:
    yield row.get("extra")
    swipes = row.get("swipe_info")
    for swipe in swipes if isinstance(swipes, list) else ():
        yield swipe.get("extra") if isinstance(swipe, dict) else None


def _mint(row: Mapping[str, Any], taken: set[str], attempts: Counter[str]) -> str:
    """A new slot from speaker and date, which is added to `taken`.

    attempts  by speaker and date those that were made: without them the time would grow as the square of the
              messages without a date
    """
    date = row.get("send_date")
    if isinstance(date, float) and date.is_integer():
        date = int(date)  # as JavaScript writes it
    side = "u" if row.get("is_user") else "c"
    seed = f"{side}\n{row.get('name') or ''}\n{'' if date is None else date}"
    for attempt in count(attempts[seed]):
        text = well_formed(f"{seed}\n{attempt}")
        slot = "m" + hashlib.sha256(text.encode()).hexdigest()[:20]
        if slot not in taken:
            attempts[seed] = attempt + 1
            break
    taken.add(slot)
    return slot


# Types of SillyTavern's own notices; the extension has the same list.
# fmt: off
_NOTICES = frozenset({
    "help", "welcome", "empty", "generic", "comment", "slash_commands", "formatting", "hotkeys", "macros",
    "welcome_prompt", "assistant_note",
})
# fmt: on
_LONGEST = 32 << 20  # bytes of a line; requests have the same limit
_MOST_NAME = 2_000  # characters of a name
_MOST_SWIPE = 1_000_000_000
_NO_NAME = frozenset({"", "unused"})  # placeholders of newer headers


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that could not be read; `number` counts from 1."""

    number: int
    reason: str  # not_utf8, not_json, not_an_object, no_text, too_long


@dataclass(frozen=True, slots=True)
class ChatLog:
    """A chat file as read. `chat` and slots are those that the extension stored in the file, if any."""

    chat: ChatId
    title: str
    persona: str
    messages: tuple[Message, ...]
    broken: tuple[BrokenLine, ...] = ()
    undated: int = 0  # messages without a readable send_date
    main_chat: str | None = None  # title of the chat this one was branched from
    # the chat whose record SillyTavern copied into this branch
    copied_from: ChatId | None = None
    parent: Fork | None = None
    # souls whose presence is recorded in the file
    people: frozenset[SoulId] = frozenset()


@dataclass(frozen=True, slots=True)
class ChatRows:
    """The messages of a chat file as its rows, each with its version.

    chat  the id that the extension recorded in the file, if any
    """

    chat: ChatId | None
    rows: tuple[dict[str, Any], ...]
    versions: tuple[Version, ...]
    broken: tuple[BrokenLine, ...]


@dataclass(slots=True)
class _Header:
    metadata: Mapping[str, Any] = field(default_factory=dict)
    user: str = ""
    character: str = ""

    def record(self, key: str) -> Any:
        """The value that the extension recorded for the chat under `key`."""
        record = self.metadata.get("soulmem")
        return record.get(key) if isinstance(record, dict) else None

    def main_chat(self) -> str | None:
        name = self.metadata.get("main_chat")
        return name if isinstance(name, str) and name else None


def chat_id_for(title: str, souls: Sequence[SoulId]) -> ChatId:
    """The id of a chat without a recorded one: the same for the same title and souls."""
    return ChatId(derived_id("c", "st_chat", *sorted(souls), title))


def read_chat_file(
    data: bytes, title: str, souls: Sequence[SoulId], local: tzinfo | None = None
) -> ChatLog:
    """`read_chat_log` of a whole file. Raises Unprocessable for one that is no chat, and says what it is."""
    data = as_utf8(data)
    log = read_chat_log(io.BytesIO(data), title, souls, local)
    if not log.messages:
        check_text(data)
    refusal = no_utf8(data) if _is_in_other_encoding(log) else None
    if refusal is not None:
        raise refusal
    if log.messages:
        return log
    check_no_bundle(data)
    _check_json(data)
    check_lines(data.splitlines())
    raise Unprocessable(
        phrase(
            "file_no_chat",
            "'{title}' holds no chat message: choose a chat file of SillyTavern (.jsonl)",
            title=title,
        ),
        field="text",
    )


def _is_in_other_encoding(log: ChatLog) -> bool:
    """Whether no line shows that the file is in UTF-8, and several that it is not: half of it would be lost."""
    foreign = sum(line.reason == "not_utf8" for line in log.broken)
    shows_utf8 = any(not message.text.isascii() for message in log.messages)
    return foreign > 0 and not shows_utf8 and (foreign > 1 or not log.messages)


def _check_json(data: bytes) -> None:
    """Raises Unprocessable where the file is one JSON value that is a chat of another program."""
    try:
        content = read_json(data)
    except ValueError:
        return
    if isinstance(content, dict):
        check_no_foreign_chat(content)
    check_no_messages(content)


def read_chat_log(
    lines: Iterable[bytes],
    title: str,
    souls: Sequence[SoulId],
    local: tzinfo | None = None,
) -> ChatLog:
    """Read a chat file line by line; unreadable lines are listed in `broken`.

    `title` is the file's name without ending; `local` is the zone of dates without one (None: the machine's).
    """
    header, rows, broken = _read_rows(lines)
    own, copied_from = _identity(header, title)
    messages = tuple(
        _message(row, slot, header, local) for row, slot in zip(rows, slots_of(rows), strict=True)
    )
    return ChatLog(
        chat=own or chat_id_for(title, souls),
        title=title,
        persona=_persona(rows, header),
        messages=messages,
        broken=tuple(broken),
        undated=sum(m.sent_at is None for m in messages),
        main_chat=header.main_chat(),
        copied_from=copied_from,
        parent=_recorded_parent(header) if own else None,
        people=frozenset(_ids(header.record("cast")) or ()).union(
            *(m.present or () for m in messages)
        ),
    )


def read_chat_rows(lines: Iterable[bytes], title: str) -> ChatRows:
    """The rows of a chat file of this title, for what other extensions wrote into them."""
    header, rows, broken = _read_rows(lines)
    own, _ = _identity(header, title)
    hashes = (text_hash(well_formed(row["mes"])) for row in rows)
    versions = map(Version, slots_of(rows), hashes)
    return ChatRows(own, tuple(rows), tuple(versions), tuple(broken))


def _read_rows(
    lines: Iterable[bytes],
) -> tuple[_Header, list[dict[str, Any]], list[BrokenLine]]:
    """The header, the rows of messages, and the unreadable lines."""
    header = _Header()
    rows: list[dict[str, Any]] = []
    broken: list[BrokenLine] = []
    for number, line in enumerate(lines, 1):
        try:
            row = _row(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
        except ValueError as error:
            broken.append(BrokenLine(number, str(error)))
            continue
        if row is None:
            continue
        if isinstance(row.get("mes"), dict):  # as Chub writes it
            row = {**row, "mes": row["mes"].get("message")}
        if "mes" not in row and not rows and _is_header(row):
            header = _header(row)
        elif not isinstance(row.get("mes"), str):
            broken.append(BrokenLine(number, "no_text"))
        else:
            rows.append(row)
    return header, rows, broken


def as_branch(log: ChatLog, parent: ChatId, theirs: Collection[SlotId]) -> ChatLog:
    """`log` as a branch of `parent` with the slots `theirs`; unchanged when the first message is not shared."""
    shared = None
    for message in log.messages:
        if message.slot not in theirs:
            break
        shared = message.slot
    return log if shared is None else replace(log, parent=Fork(parent, shared))


def _row(line: bytes) -> dict[str, Any] | None:
    """The object in a line, None for an empty line. Raises ValueError(reason) for anything else."""
    if len(line) > _LONGEST:
        raise ValueError("too_long")
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        raise ValueError("not_utf8") from None
    if not text:
        return None
    try:
        row = read_json(text)
    except ValueError:
        raise ValueError("not_json") from None
    if not isinstance(row, dict):
        raise ValueError("not_an_object")
    return row


def _is_header(row: Mapping[str, Any]) -> bool:
    return "chat_metadata" in row or "user_name" in row or "character_name" in row


def _header(row: Mapping[str, Any]) -> _Header:
    metadata = row.get("chat_metadata")
    return _Header(
        metadata=metadata if isinstance(metadata, dict) else {},
        user=_name(row.get("user_name")),
        character=_name(row.get("character_name")),
    )


def _name(value: Any) -> str:
    name = well_formed(value).strip()[:_MOST_NAME] if isinstance(value, str) else ""
    return "" if name in _NO_NAME else name


def _identity(header: _Header, title: str) -> tuple[ChatId | None, ChatId | None]:
    """The recorded id of this chat, or of the chat whose record was copied into this branch."""
    chat = as_id(header.record("chat"))
    if chat is None:
        return None, None
    minted_under = header.record("name")
    if minted_under != title and minted_under == header.main_chat():
        return None, ChatId(chat)
    return ChatId(chat), None


def _recorded_parent(header: _Header) -> Fork | None:
    parent = header.record("parent")
    if not isinstance(parent, dict):
        return None
    chat, slot = as_id(parent.get("chat")), as_id(parent.get("fork_slot"))
    return Fork(ChatId(chat), SlotId(slot)) if chat and slot else None


def _message(row: dict[str, Any], slot: SlotId, header: _Header, local: tzinfo | None) -> Message:
    extra = row.get("extra")
    text = well_formed(row["mes"])
    role = _role(row, extra if isinstance(extra, dict) else {})
    swipe = row.get("swipe_id")
    return Message(
        slot=slot,
        hash=text_hash(text),
        role=role,
        speaker=_name(row.get("name")) or _usual_name(role, header),
        text=text,
        sent_at=parse_send_date(row.get("send_date"), local),
        story_at=story_date(text),
        hidden=bool(row.get("is_system")) and role is not Role.SYSTEM,
        swipe=swipe if isinstance(swipe, int) and 0 < swipe <= _MOST_SWIPE else 0,
        present=_ids(stamp_of(extra).get("present")) or _ids(header.record("cast")),
    )


def _ids(value: Any) -> tuple[SoulId, ...] | None:
    """The souls in a list that the extension recorded, None when there are none."""
    souls = [SoulId(raw_id) for raw_id in value if as_id(raw_id)] if isinstance(value, list) else []
    return tuple(souls) or None


def _usual_name(role: Role, header: _Header) -> str:
    return {Role.USER: header.user, Role.CHARACTER: header.character}.get(role, "")


def _role(row: Mapping[str, Any], extra: Mapping[str, Any]) -> Role:
    type_ = extra.get("type")
    if isinstance(extra.get("tool_invocations"), list) or (
        isinstance(type_, str) and type_ in _NOTICES
    ):
        return Role.SYSTEM
    if type_ == "narrator":
        return Role.NARRATOR
    return Role.USER if row.get("is_user") else Role.CHARACTER


def _persona(rows: Iterable[dict[str, Any]], header: _Header) -> str:
    """The user's most frequent name."""
    names = Counter(_name(row.get("name")) for row in rows if row.get("is_user"))
    names.pop("", None)
    return names.most_common(1)[0][0] if names else header.user
