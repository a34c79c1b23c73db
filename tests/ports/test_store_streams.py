"""Events of streams are stored as they are, listed by time within a span, and deleted with their soul."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from soulmem.domain.ids import SoulId, StreamId
from soulmem.domain.streams import StreamEvent
from soulmem.ports.store import Store
from tests.ports.stores import NOON, OWNER

SOUL, OTHER, LIVE = SoulId("s1"), SoulId("s2"), StreamId("live")
_FIRST = datetime.min.replace(tzinfo=timezone.utc), ""
_LAST = datetime.max.replace(tzinfo=timezone.utc)


def event(key: str, second: float = 0.0, stream: StreamId = LIVE) -> StreamEvent:
    """An event so many seconds after noon."""
    moment = NOON + timedelta(seconds=second)
    return StreamEvent(stream, key, moment, f"viewer {key}", f"说 {key}!")


async def test_they_come_back_by_time_and_id(store: Store) -> None:
    events = [event("b", 1.5), event("a", 1.5), event("c", -3600.25), event("d", 9)]
    await store.put_events(OWNER, SOUL, events[:3])
    await store.put_events(OWNER, SOUL, events[3:])
    listed = await store.events(OWNER, SOUL, LIVE, _FIRST, _LAST)
    assert listed == [events[2], events[1], events[0], events[3]]
    assert await store.event_keys(OWNER, SOUL) == [(LIVE, each.moment, each.id) for each in listed]


async def test_a_page_begins_behind_a_position_and_ends_before_a_time(
    store: Store,
) -> None:
    events = [event(key, second) for second, key in enumerate("abcde")]
    await store.put_events(OWNER, SOUL, events)
    start, end = events[1].position, events[4].moment
    assert await store.events(OWNER, SOUL, LIVE, start, end) == events[2:4]
    assert await store.events(OWNER, SOUL, LIVE, start, end, 1) == events[2:3]
    at_once = (events[1].moment, "")
    assert await store.events(OWNER, SOUL, LIVE, at_once, end) == events[1:4]


async def test_streams_and_souls_are_apart(store: Store) -> None:
    other = event("a", 0, StreamId("live2"))
    await store.put_events(OWNER, SOUL, [event("a"), other])
    await store.put_events(OWNER, OTHER, [event("x")])
    assert await store.events(OWNER, SOUL, LIVE, _FIRST, _LAST) == [event("a")]
    assert len(await store.event_keys(OWNER, SOUL)) == 2
    await store.drop_events(OWNER, SOUL)
    assert await store.event_keys(OWNER, SOUL) == []
    assert await store.events(OWNER, OTHER, LIVE, _FIRST, _LAST) == [event("x")]
