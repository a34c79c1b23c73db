"""What does a SillyTavern chat file (.jsonl) say, as messages and as bodies of `PUT /v1/chats`?"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Any

from soulmem.domain.dialogue import Fork, Message, Role, digest, text_hash
from soulmem.domain.ids import ID_PATTERN, ChatId, SlotId, SoulId, derived_id
from soulmem.transfer.send_dates import parse_send_date

# SillyTavern hides a message by making it a system message; these types are its own words, never the story's.
# fmt: off
_HOST_TYPES = frozenset({
    "help", "welcome", "empty", "generic", "comment", "slash_commands", "formatting", "hotkeys", "macros",
    "welcome_prompt", "assistant_note", "assistant_message",
})
# fmt: on
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_NAME = frozenset({"", "unused"})  # what newer headers hold in place of the names


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that could not be read; `number` counts from 1."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class ChatLog:
    """A chat file as read. `chat` and the slots are the extension's own where it left them in the file."""

    chat: ChatId
    title: str
    persona: str
    messages: tuple[Message, ...]
    broken: tuple[BrokenLine, ...] = ()
    undated: int = 0  # messages whose send_date means nothing to us
    main_chat: str | None = None  # title of the chat this one was branched from
    parent: Fork | None = None


@dataclass(slots=True)
class _Header:
    metadata: Mapping[str, Any] = field(default_factory=dict)
    user: str = ""
    character: str = ""


def chat_id_for(title: str, souls: Sequence[SoulId]) -> ChatId:
    """The id of a chat that never met the extension: the same file read again is the same chat."""
    return ChatId(derived_id("c", "st_chat", *sorted(souls), title))


def read_chat_log(
    lines: Iterable[bytes], title: str, souls: Sequence[SoulId], local: tzinfo | None = None
) -> ChatLog:
    """Read a chat file line by line; a line that cannot be read is reported and left out.

    `title` is the file's name without ending; `local` is the zone of dates without one (None: the machine's).
    """
    header = _Header()
    rows: list[tuple[int, dict[str, Any]]] = []
    broken: list[BrokenLine] = []
    for number, line in enumerate(lines, 1):
        try:
            row = _row(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
        except ValueError as error:
            broken.append(BrokenLine(number, str(error)))
            continue
        if row is None:
            continue
        if "mes" not in row and not rows and _is_header(row):
            header = _header(row)
        elif not isinstance(row.get("mes"), str):
            broken.append(BrokenLine(number, "no message text (mes)"))
        else:
            rows.append((number, row))
    chat = _own_id(header.metadata, "chat", "id") or chat_id_for(title, souls)
    messages = _messages(rows, ChatId(chat), header, local)
    main_chat = header.metadata.get("main_chat")
    return ChatLog(
        chat=ChatId(chat),
        title=title,
        persona=_persona(rows, header),
        messages=messages,
        broken=tuple(broken),
        undated=sum(m.sent_at is None for m in messages),
        main_chat=main_chat if isinstance(main_chat, str) and main_chat else None,
    )


def as_branch(log: ChatLog, parent: ChatId, theirs: Sequence[tuple[SlotId, str]]) -> ChatLog:
    """`log` as a branch of `parent`, whose messages are `theirs` (slot, hash), in order.

    As far as both say the same, its messages are the parent's own; if nowhere, it is no branch.
    """
    shared = 0
    for mine, (_, their_hash) in zip(log.messages, theirs, strict=False):
        if mine.hash != their_hash:
            break
        shared += 1
    if shared == 0:
        return log
    slots = [slot for slot, _ in theirs[:shared]]
    rest = log.messages[shared:]
    if set(slots) & {m.slot for m in rest}:  # a slot that means two messages would make one of them vanish
        return log
    common = tuple(replace(m, slot=slot) for m, slot in zip(log.messages, slots, strict=False))
    return replace(log, messages=common + rest, parent=Fork(parent, slots[-1]))


def sync_body(
    log: ChatLog,
    souls: Sequence[SoulId],
    start: int = 0,
    stop: int | None = None,
    texts: frozenset[SlotId] | None = None,
) -> dict[str, Any]:
    """The body that makes the stored chat the first `stop` messages of `log`; `start` of them are known.

    `texts` names the slots whose text is sent along; None sends all.
    """
    body: dict[str, Any] = {
        "souls": list(souls),
        "title": log.title,
        "persona": log.persona,
        "messages": [_sent(m, with_text=texts is None or m.slot in texts) for m in log.messages[start:stop]],
    }
    if log.parent is not None:
        body["parent"] = {"chat": log.parent.chat, "fork_slot": log.parent.slot}
    if start:
        body["base"] = {"count": start, "digest": digest(log.messages[:start])}
    return body


def _row(line: bytes) -> dict[str, Any] | None:
    """The object in a line, None for an empty line. Raises ValueError, in words, for anything else."""
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    if not text:
        return None
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(row, dict):
        raise ValueError("not an object")
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
    name = _well_formed(value).strip() if isinstance(value, str) else ""
    return "" if name in _NO_NAME else name


def _messages(
    rows: Iterable[tuple[int, dict[str, Any]]], chat: ChatId, header: _Header, local: tzinfo | None
) -> tuple[Message, ...]:
    taken: set[str] = set()
    out: list[Message] = []
    for number, row in rows:
        extra = row.get("extra")
        extra = extra if isinstance(extra, dict) else {}
        slot = _own_id(extra, "id")
        if slot is None or slot in taken:  # a copied message carries its original's id
            slot = derived_id("m", chat, str(number))
        taken.add(slot)
        text = _well_formed(row["mes"])
        role = _role(row, extra)
        swipe = row.get("swipe_id")
        out.append(
            Message(
                slot=SlotId(slot),
                hash=text_hash(text),
                role=role,
                speaker=_name(row.get("name")) or _usual_name(role, header),
                text=text,
                sent_at=parse_send_date(row.get("send_date"), local),
                hidden=bool(row.get("is_system")) and role is not Role.SYSTEM,
                swipe=swipe if isinstance(swipe, int) and swipe > 0 else 0,
            )
        )
    return tuple(out)


def _usual_name(role: Role, header: _Header) -> str:
    return {Role.USER: header.user, Role.CHARACTER: header.character}.get(role, "")


def _role(row: Mapping[str, Any], extra: Mapping[str, Any]) -> Role:
    if extra.get("type") == "narrator":
        return Role.NARRATOR
    if row.get("is_user"):
        return Role.USER
    if row.get("is_system") and extra.get("type") in _HOST_TYPES:
        return Role.SYSTEM
    return Role.CHARACTER


def _persona(rows: Iterable[tuple[int, dict[str, Any]]], header: _Header) -> str:
    """The name the user mostly went by."""
    names = Counter(name for _, row in rows if row.get("is_user") and (name := _name(row.get("name"))))
    return names.most_common(1)[0][0] if names else header.user


def _own_id(holder: Mapping[str, Any], *keys: str) -> str | None:
    """The id that the extension left under `soulmem` in `holder`."""
    ours = holder.get("soulmem")
    for key in keys:
        value = ours.get(key) if isinstance(ours, dict) else None
        if isinstance(value, str) and re.match(ID_PATTERN, value):
            return value
    return None


def _well_formed(text: str) -> str:
    """`text` without lone surrogates, which no UTF-8 can carry; a browser replaces them the same way."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _sent(message: Message, *, with_text: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "slot": message.slot,
        "hash": message.hash,
        "role": message.role.value,
        "speaker": message.speaker,
        "hidden": message.hidden,
        "swipe": message.swipe,
    }
    if message.sent_at is not None:
        row["sent_at"] = message.sent_at.isoformat()
    if with_text:
        row["text"] = message.text
    return row
