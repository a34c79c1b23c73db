"""Rows that cannot be read: each is named, and the rows of other souls are read."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from soulmem.adapters.surreal.governed_rows import (
    BOOKS,
    DELETIONS,
    books_of,
    deletion_of,
)
from soulmem.adapters.surreal.rows import CHATS, SOULS, Table, chat_of, soul_of
from soulmem.domain.errors import StoreDamaged
from soulmem.domain.ids import ChatId, SoulId
from soulmem.ports.store import Damage

T = TypeVar("T")
log = logging.getLogger(__name__)

# What is read for all souls of an owner at once, and where a row says whose it is.
OF_OWNER: tuple[tuple[Table, Callable[[str], object], tuple[int, ...]], ...] = (
    (SOULS, soul_of, (0,)),
    (CHATS, chat_of, (1, 2)),
    (BOOKS, books_of, (0,)),
    (DELETIONS, deletion_of, (1,)),
)


def parsed(table: Table, whose: str, parse: Callable[[Any], T], lines: Sequence[Any]) -> list[T]:
    """The values of these rows. Raises StoreDamaged, which names the first that cannot be read."""
    values = []
    for line in lines:
        try:
            values.append(parse(line))
        except Exception as error:
            raise StoreDamaged(_what(table, line, error), whose) from error
    return values


def parsed_page(table: Table, whose: str, parse: Callable[[str], T], page: str) -> T:
    """The values of a page of rows. Raises StoreDamaged likewise."""
    try:
        return parse(page)
    except Exception as error:
        for row in json.loads(page):
            parsed(table, whose, parse, [json.dumps([row])])
        what = f"{table.name}: {type(error).__name__}"
        raise StoreDamaged(what, whose) from error


def readable(table: Table, parse: Callable[[str], T], lines: Sequence[str]) -> list[T]:
    """The values of those rows that can be read; the log names the others, and so does `damages` where it reads
    the table.
    """
    values = []
    for line in lines:
        try:
            values.append(parse(line))
        except Exception as error:
            log.warning("a row cannot be read: %s", _what(table, line, error))
    return values


def damages(
    table: Table,
    parse: Callable[[str], object],
    owners: Sequence[int],
    lines: Sequence[str],
) -> list[Damage]:
    """Which of these rows of all souls cannot be read.

    owners  the places in a row that say whose it is
    """
    found = []
    for line in lines:
        try:
            parse(line)
        except Exception as error:
            found.append(_damage(table, owners, line, error))
    return found


def _damage(table: Table, owners: Sequence[int], line: str, error: Exception) -> Damage:
    row = json.loads(line)
    souls: dict[SoulId, None] = {}
    for value in (row[place] for place in owners):
        for soul in value if isinstance(value, list) else [value]:
            if isinstance(soul, str):
                souls[SoulId(soul)] = None
    name = row[1] if table is SOULS and isinstance(row[1], str) else ""
    chat = ChatId(row[0]) if table is CHATS else None
    return Damage(tuple(souls), chat, name, _what(table, line, error))


def _what(table: Table, line: Any, error: Exception) -> str:
    """Which row it is and what reading it raised; what an exception says may quote a chat."""
    if isinstance(line, dict):
        key = line.get("key")
    else:
        row = json.loads(line)
        key = row[0][0] if isinstance(row[0], list) else row[0]
    return f"{table.name} {key}: {type(error).__name__}"
