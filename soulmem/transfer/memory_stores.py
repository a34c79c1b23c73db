"""Reads the memories that other SillyTavern extensions keep: MemoryBooks, CharMemory and qvink's MessageSummarize.

MemoryBooks marks its entries in a world, and names the chat and the places of the messages. CharMemory keeps a
text file of bullets in `<memory>` blocks. MessageSummarize writes a summary on each message of a chat file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.domain.foreign_json import read_json
from soulmem.domain.phrases import phrase
from soulmem.domain.texts import well_formed
from soulmem.transfer import marked_entries
from soulmem.transfer.book import read_entries
from soulmem.transfer.chat_log import read_chat_rows
from soulmem.transfer.files import as_utf8, check_text, json_object
from soulmem.transfer.lore import (
    BrokenPart,
    Cast,
    EvidenceRef,
    Lore,
    Statement,
    store_source,
)
from soulmem.transfer.marked_entries import is_marked
from soulmem.transfer.name_finder import names_in, united
from soulmem.transfer.statements import plain

_KEPT = 0.7  # importance of what the user kept for good in MessageSummarize

_OPENING = re.compile(r"<memory\b[^<>]*>", re.IGNORECASE)
_CLOSING = re.compile("</memory>", re.IGNORECASE)
_HEADING = re.compile(r"^## Memory \d+[ \t]*$", re.MULTILINE)
_BULLET = re.compile(r"(?:\[[^\]]*\]\s*)?[-*]\s+(.+)\Z")
_DASH = re.compile(" [—–-] ")


def read_store(data: bytes, title: str, cast: Cast) -> Lore:
    """The memories of a store, by its content. Raises Unprocessable for a file that is none of the three."""
    data = as_utf8(data)
    check_text(data)
    source = store_source(title)
    text = data.decode(errors="replace")
    if _is_chat(text):
        return _read_summaries(data, title, cast, source)
    if text.lstrip().startswith("{"):
        return _read_marked_entries(json_object(data), title, cast, source)
    if _blocks(text) or _HEADING.search(text):
        return _read_bullets(well_formed(text), title, cast, source)
    raise Unprocessable(
        phrase(
            "file_no_store",
            "the file holds no memories of MemoryBooks (a world), CharMemory (a text of <memory>"
            " blocks) or MessageSummarize (a chat): choose such a file",
        ),
        field="text",
    )


def _is_chat(text: str) -> bool:
    """Whether the first lines are those of a chat file."""
    first = next((line for line in text.split("\n", 8) if line.strip()), "")
    row = _row(first)
    return row is not None and any(key in row for key in ("chat_metadata", "mes"))


def _row(line: str) -> dict[str, Any] | None:
    try:
        row = read_json(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _read_marked_entries(world: dict[str, Any], title: str, cast: Cast, source: str) -> Lore:
    """The entries of a world that MemoryBooks made."""
    entries = world.get("entries")
    if not isinstance(entries, dict | list):
        raise Unprocessable(
            phrase(
                "file_no_memorybook",
                "the file has no `entries`, so it is no world of MemoryBooks: export the world from SillyTavern",
            ),
            field="text",
        )
    each = entries.values() if isinstance(entries, dict) else entries
    marked = [entry for entry in each if is_marked(entry)]
    return read_entries(marked, title, marked_entries.PART, cast, source)


def _read_summaries(data: bytes, title: str, cast: Cast, source: str) -> Lore:
    """The summaries that MessageSummarize wrote on messages; those that the user excluded are left out."""
    statements: list[Statement] = []
    excluded = 0
    rows = read_chat_rows(data.splitlines(), title)
    for row, version in zip(rows.rows, rows.versions, strict=True):
        extra = row.get("extra")
        note = extra.get("qvink_memory") if isinstance(extra, dict) else None
        summary = note.get("memory") if isinstance(note, dict) else None
        if not isinstance(note, dict) or not isinstance(summary, str):
            continue
        if note.get("exclude") is True:
            excluded += 1
            continue
        prefill = note.get("prefill")
        whole = f"{prefill}{summary}" if isinstance(prefill, str) else summary
        importance = _KEPT if note.get("remember") is True else None
        evidence = EvidenceRef(title, rows.chat, version)
        statements += [
            replace(statement, evidence=evidence)
            for statement in _statements([whole], "MessageSummarize", cast, importance)
        ]
    broken = [BrokenPart(str(line.number), line.reason) for line in rows.broken]
    return _lore(title, statements, cast, source, broken, excluded)


def _read_bullets(text: str, title: str, cast: Cast, source: str) -> Lore:
    """The bullets of a file of CharMemory, each with the topic that it stands under."""
    blocks = _blocks(text) or _HEADING.split(text)[1:]
    bullets = [bullet for block in blocks for bullet in _bullets_of(block)]
    statements = _statements(bullets, "CharMemory", cast, None)
    return _lore(title, statements, cast, source, [], 0)


def _blocks(text: str) -> list[str]:
    """What stands between each pair of memory tags."""
    parts = [_CLOSING.split(part, 1) for part in _OPENING.split(text)[1:]]
    return [part[0] for part in parts if len(part) > 1]


def _bullets_of(block: str) -> Iterator[str]:
    """What each bullet of a block says; a line without a bullet goes on with the one before."""
    topic = ""
    for bullet in _whole_bullets(block):
        heading = _DASH.split(bullet[1:-1])
        is_heading = bullet.startswith("[") and bullet.endswith("]")
        if is_heading and len(heading) > 1:
            topic = heading[-1].strip()
        elif not topic or topic in bullet:
            yield bullet
        else:
            yield f"{topic}: {bullet}"


def _whole_bullets(block: str) -> list[str]:
    """The bullets of a block without their marks."""
    bullets: list[str] = []
    for line in map(str.strip, block.split("\n")):
        match = _BULLET.match(line)
        if match is not None:
            bullets.append(match[1].strip())
        elif bullets and line.strip("-*"):
            bullets[-1] = f"{bullets[-1]} {line}"
    return bullets


def _statements(
    texts: Iterable[str], part: str, cast: Cast, importance: float | None
) -> list[Statement]:
    whole = (plain(well_formed(text), cast).strip() for text in texts)
    return [
        Statement(text, part, importance=importance)
        for text in whole
        if any(map(str.isalnum, text))
    ]


def _lore(
    title: str,
    statements: list[Statement],
    cast: Cast,
    source: str,
    broken: list[BrokenPart],
    disabled: int,
) -> Lore:
    """The statements, each text once for the same messages.

    Names are taken from those that are not about messages: what a message names is learned from the message.
    """
    once = list({(each.text, each.evidence): each for each in statements}.values())
    free = [statement.text for statement in once if statement.evidence is None]
    names = [name for text in free for name in names_in(text)]
    return Lore(
        title,
        tuple(once),
        united(names, [cast.character], cast.user, source),
        tuple(broken),
        disabled,
    )
