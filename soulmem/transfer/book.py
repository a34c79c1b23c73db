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

_CONSTANT = 0.8  # importance of entries that are always in the prompt; only the user makes memories permanent
_MOST_TITLE = 200  # characters


def read_world(data: bytes, title: str, cast: Cast) -> Lore:
    """The lore of a world file: SillyTavern's own, or a single book. Raises Unprocessable."""
    world = json_object(data)
    if isinstance(world.get("data"), dict) and "entries" in world["data"]:
        world = world["data"]
    entries = world.get("entries")
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
    """The lore of the entries of a book, in either of the two formats; unreadable entries are listed.

    An entry that MemoryBooks made is the same memory whether its world or its store is imported.
    """
    entry_statements: list[Statement] = []
    names: list[KnownName] = []
    broken: list[BrokenPart] = []
    disabled = 0
    for key, entry in _numbered(entries):
        if not isinstance(entry, dict):
            broken.append(BrokenPart(key, "not_an_object"))
            continue
        evidence, entry_part = None, part
        if marked_entries.is_marked(entry):
            evidence, entry_part = (
                marked_entries.evidence_of(entry),
                marked_entries.PART,
            )
            entry = marked_entries.untitled(entry)
        content = entry.get("content")
        if not isinstance(content, str):
            broken.append(BrokenPart(key, "no_text"))
            continue
        if entry.get("disable") is True or entry.get("enabled") is False:
            disabled += 1
            continue
        content = plain(well_formed(content), cast).strip()
        keys = [
            plain(well_formed(raw_key), cast)
            for raw_key in _texts(entry, "key", "keys")
        ]
        heading = _title(entry)
        importance = _CONSTANT if entry.get("constant") is True else None
        entry_statements += [
            Statement(text, entry_part, importance=importance, evidence=evidence)
            for text in _pieces(content, heading, keys)
        ]
        # What messages name is learned from them, and goes with them.
        if evidence is None:
            names += [*names_of_keys(keys, heading, content), *names_in(content)]
    return Lore(
        title,
        tuple(entry_statements),
        united(names, [cast.character], cast.user, source),
        tuple(broken),
        disabled,
    )


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
    for field in ("comment", "name"):
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
