"""Reads the entries of a world (lorebook), or of the book inside a card, as statements and names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase
from soulmem.domain.soul import KnownName
from soulmem.domain.texts import well_formed
from soulmem.language.segmentation import sentences
from soulmem.transfer import marked_entries
from soulmem.transfer.files import json_object
from soulmem.transfer.lore import BrokenPart, Cast, Lore, Statement, world_source
from soulmem.transfer.name_finder import names_in, names_of_keys, united
from soulmem.transfer.statements import LONGEST, columns, joined, plain
from soulmem.transfer.templates import filled
from soulmem.transfer.world_prose import is_switched_off, prose_of

_CONSTANT = 0.8  # importance of entries that are always in the prompt; only the user makes memories permanent
_MOST_TITLE = 200  # characters
_CONTENTS = ("content", "text", "entry")  # in SillyTavern; NovelAI; Agnai


def read_world(data: bytes, title: str, cast: Cast) -> Lore:
    """The lore of a world file: SillyTavern's own, or a book of another program. Raises Unprocessable."""
    world = json_object(data)
    if isinstance(world.get("data"), dict) and "entries" in world["data"]:
        world = world["data"]
    entries = world.get("entries")
    if entries is None and isinstance(world.get("data"), list):
        entries = world["data"]  # as RisuAI has them
    if not isinstance(entries, dict | list):
        raise Unprocessable(
            phrase(
                "file_no_world",
                "the file has no `entries`, so it is no world info: export the world from SillyTavern",
            ),
            field="text",
        )
    return read_entries(entries, title, "world info", cast, world_source(title))


def read_entries(entries: Any, title: str, part: str, cast: Cast, source: str) -> Lore:
    """The lore of the entries of a book, in any of its formats; unreadable entries are listed.

    An entry that MemoryBooks made is the same memory whether its world or its store is imported.
    """
    book = _Book(part, cast)
    for key, entry in _numbered(entries):
        book.add(key, entry)
    return Lore(
        title,
        tuple(book.statements),
        united(book.names, [cast.character], cast.user, source),
        tuple(book.broken),
        book.disabled,
        instructions=book.instructions,
    )


class _Book:
    """Reads entry after entry."""

    def __init__(self, part: str, cast: Cast) -> None:
        self._part, self._cast = part, cast
        self.statements: list[Statement] = []
        self.names: list[KnownName] = []
        self.broken: list[BrokenPart] = []
        self.disabled = self.instructions = 0

    def add(self, key: str, entry: Any) -> None:
        """Read an entry: its prose as statements, its keys and prose for names."""
        if not isinstance(entry, dict):
            self.broken.append(BrokenPart(key, "not_an_object"))
            return
        content = next(
            (text for name in _CONTENTS if isinstance(text := entry.get(name), str)),
            None,
        )
        if content is None:
            self.broken.append(BrokenPart(key, "no_text"))
            return
        if (
            entry.get("disable") is True
            or entry.get("enabled") is False
            or is_switched_off(content)
        ):
            self.disabled += 1
            return
        self._read(entry, well_formed(content))

    def _read(self, entry: dict[str, Any], content: str) -> None:
        evidence, part = None, self._part
        if marked_entries.is_marked(entry):
            evidence = marked_entries.evidence_of(entry)
            part = marked_entries.PART
            entry = marked_entries.untitled(entry)
        heading = _title(entry)
        prose = prose_of(filled(content, self._cast), heading, self._cast.user)
        self.instructions += prose.is_shortened
        if not prose.text:
            return
        keys = [
            plain(well_formed(raw_key), self._cast)
            for raw_key in _texts(entry, "key", "keys", "keywords")
        ]
        always = any(entry.get(name) is True for name in ("constant", "alwaysActive"))
        importance = _CONSTANT if always else None
        self.statements += [
            Statement(text, part, importance=importance, evidence=evidence)
            for text in _pieces(prose.text, plain(heading, self._cast), keys)
        ]
        # What messages name is learned from them, and goes with them.
        if evidence is None:
            self.names += names_of_keys(keys, heading, prose.text)
            self.names += names_in(prose.text)


def _numbered(entries: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(entries, dict):
        return ((str(key)[:80], entry) for key, entry in entries.items())
    return ((str(number), entry) for number, entry in enumerate(entries, 1))


def _texts(entry: dict[str, Any], *fields: str) -> list[str]:
    out: list[str] = []
    for field in fields:
        value = entry.get(field)
        if isinstance(value, str):
            value = value.split(",")
        for part in value if isinstance(value, list) else ():
            if isinstance(part, str) and part.strip():
                out.append(part.strip())
    return out


def _title(entry: dict[str, Any]) -> str:
    for field in ("comment", "name", "displayName"):
        value = entry.get(field)
        if isinstance(value, str) and value.strip():
            return well_formed(value).strip()[:_MOST_TITLE]
    return ""


def _pieces(content: str, heading: str, keys: list[str]) -> Iterable[str]:
    """The content, cut where it is long; each piece starts with its heading unless it contains it."""
    if not any(character.isalnum() for character in content):
        return
    about = next((name for name in (heading, *keys) if name), "")
    pieces = [content]
    if columns(content) > LONGEST:
        parts: list[str] = []
        for line in content.split("\n"):
            parts += joined(sentences(line.strip()))
        pieces = _packed(parts)
    for piece in pieces:
        says_so = not about or about.casefold() in piece.casefold()
        yield piece if says_so else f"{about}: {piece}"


def _packed(parts: list[str]) -> list[str]:
    """Neighbouring parts joined while they stay short."""
    out: list[str] = []
    for part in parts:
        if out and columns(out[-1]) + columns(part) <= LONGEST // 3:
            out[-1] += f"\n{part}"
        else:
            out.append(part)
    return out
