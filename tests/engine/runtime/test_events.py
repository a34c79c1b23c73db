"""Events reach the listeners they are for, and a slow listener hears that it missed some."""

from __future__ import annotations

import pytest

from soulmem.domain.errors import Busy
from soulmem.domain.ids import DEFAULT_OWNER as ME
from soulmem.domain.ids import Owner
from soulmem.engine.runtime.events import (
    _LISTENERS,
    _WAITING,
    MISSED,
    Event,
    Events,
    Listener,
)


def heard(listener: Listener) -> list[Event | None]:
    """All that waits in the queue."""
    return [listener.get_nowait() for _ in range(listener.qsize())]


async def test_an_event_is_for_its_owner_or_for_everybody() -> None:
    events = Events()
    with events.listen(ME) as mine, events.listen(Owner("bob")) as other:
        events.publish("job", ME, job="j1")
        events.publish("phase", phase="idle")
        assert heard(mine) == [
            Event("job", {"job": "j1"}),
            Event("phase", {"phase": "idle"}),
        ]
        assert heard(other) == [Event("phase", {"phase": "idle"})]


async def test_who_listens_too_slowly_hears_once_that_events_were_missed() -> None:
    events = Events()
    with events.listen(ME) as mine:
        for number in range(_WAITING + 3):
            events.publish("job", ME, job=str(number))
        waiting = heard(mine)
        assert len(waiting) == _WAITING + 1
        assert waiting[-1] == MISSED
        assert MISSED not in waiting[:-1]
        events.publish("job", ME, job="later")
        assert heard(mine) == [Event("job", {"job": "later"})]


async def test_there_is_room_for_so_many_listeners_and_again_when_one_leaves() -> None:
    events = Events()
    listening = [events.listen(ME) for _ in range(_LISTENERS)]
    for listener in listening:
        events.check_room()
        listener.__enter__()
    with pytest.raises(Busy, match=f"{_LISTENERS} listen already"):
        events.check_room()
    listening[0].__exit__(None, None, None)
    events.check_room()


async def test_at_the_end_every_listener_is_let_go_also_one_that_comes_later() -> None:
    events = Events()
    with events.listen(ME) as mine:
        assert heard(mine) == []
        events.close()
        assert heard(mine) == [None]
    with events.listen(ME) as late:
        assert heard(late) == [None]
