"""Days leave a trace: what happened in a month is told by its digest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .conftest import World
from .stories import KEY
from .test_learning import Room
from .test_not_twice import LARGE

pytestmark = [pytest.mark.slow("a page of SillyTavern"), pytest.mark.nightly]


@pytest.fixture
def room(world: World) -> Iterator[Room]:
    room = Room(world)
    yield room
    room.leave()


def test_a_month_is_told_by_its_digest(room: Room) -> None:
    room.enter("digests", "Mira", "en", KEY)
    room.rest()
    path = f"/memories?soul={room.soul}&kind=digest&period=month"
    (digest,) = room.world.sidecar.ask("GET", path)["memories"]
    heading, *lines = digest["text"].splitlines()
    assert (heading, bool(lines)) == ("March 2026:", True)
    room.page.tab.evaluate(LARGE, 2_400)  # tokens: room for a digest, not for the chat
    prompt = room.page.send("What happened in March?")
    assert prompt.recalled(lines[0]) == 1
