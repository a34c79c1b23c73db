"""Events of streams: rows by soul, stream and time, so that a span of time is a range of ids."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from soulmem.adapters.surreal.connection import Connection, Run
from soulmem.adapters.surreal.link import Query, bound
from soulmem.adapters.surreal.rows import instant
from soulmem.domain.calendar import utc
from soulmem.domain.ids import Owner, SoulId, StreamId
from soulmem.domain.streams import StreamEvent

_LINE = (
    "encoding::json::encode([record::id(id)[2], record::id(id)[3], record::id(id)[4], "
    "speaker, text])"
)
_OF_SOUL = "stream_event:[$owner, $soul, '']..=[$owner, $soul, ..]"


class StreamEventRows:
    """The part of a store that keeps events; `_connection` is that of the store."""

    _connection: Connection

    async def put_events(self, owner: Owner, soul: SoulId, events: Sequence[StreamEvent]) -> None:
        await self._connection.write(_put_query(owner, soul, events))

    async def event_keys(self, owner: Owner, soul: SoulId) -> list[tuple[StreamId, datetime, str]]:
        return await self._connection.read(lambda run: _read_keys(run, owner, soul))

    async def events(
        self,
        owner: Owner,
        soul: SoulId,
        stream: StreamId,
        start: tuple[datetime, str],
        end: datetime,
        limit: int | None = None,
    ) -> list[StreamEvent]:
        return await self._connection.read(
            lambda run: _read_events(run, owner, soul, stream, start, end, limit)
        )

    async def drop_events(self, owner: Owner, soul: SoulId) -> None:
        await self._connection.write(_drop_query(owner, soul))


def _put_query(owner: Owner, soul: SoulId, events: Sequence[StreamEvent]) -> Query:
    """Stores the events in one transaction."""
    new = []
    for event in events:
        key = [owner, soul, event.stream, _written(event.moment), event.id]
        new.append({"id": key, "speaker": event.speaker, "text": event.text})
    put = "UPSERT type::record('stream_event', $row.id) CONTENT $row RETURN NONE"
    return bound(f"BEGIN;FOR $row IN $rows {{ {put} }};COMMIT;", rows=new)


async def _read_keys(run: Run, owner: Owner, soul: SoulId) -> list[tuple[StreamId, datetime, str]]:
    """Stream, time and id of every event of a soul, by stream and time."""
    query = bound(f"SELECT VALUE record::id(id) FROM {_OF_SOUL};", owner=owner, soul=soul)
    (keys,) = await run(query)
    return await asyncio.to_thread(_keys, keys)


async def _read_events(
    run: Run,
    owner: Owner,
    soul: SoulId,
    stream: StreamId,
    start: tuple[datetime, str],
    end: datetime,
    limit: int | None,
) -> list[StreamEvent]:
    """The events of a stream behind the position `start` and before `end`, by time."""
    cut = "" if limit is None else " LIMIT $limit"
    which = "[$owner, $soul, $stream, $first, $after]>..[$owner, $soul, $stream, $end, '']"
    query = bound(
        f"SELECT VALUE {_LINE} FROM stream_event:{which}{cut};",
        owner=owner,
        soul=soul,
        stream=stream,
        first=_written(start[0]),
        after=start[1],
        end=_written(end),
        limit=limit,
    )
    (lines,) = await run(query)
    return await asyncio.to_thread(_events, lines)


def _drop_query(owner: Owner, soul: SoulId) -> Query:
    """Deletes all events of a soul."""
    return bound(f"DELETE {_OF_SOUL} RETURN NONE;", owner=owner, soul=soul)


def _keys(keys: Sequence[Any]) -> list[tuple[StreamId, datetime, str]]:
    return [(StreamId(key[2]), instant(key[3]), key[4]) for key in keys]


def _events(lines: Sequence[Any]) -> list[StreamEvent]:
    return [_event(line) for line in lines]


def _event(line: Any) -> StreamEvent:
    stream, moment, key, speaker, text = json.loads(line)
    return StreamEvent(StreamId(stream), key, instant(moment), speaker, text)


def _written(moment: datetime) -> str:
    """A time as a text that sorts like it."""
    return utc(moment).isoformat(timespec="microseconds")
