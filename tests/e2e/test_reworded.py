"""What a reply makes of a blurred memory becomes its wording at rest; the original is one click away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .archivist import FILLED
from .child import until
from .conftest import World
from .memory_window import MemoryWindow
from .stories import KEY
from .test_learning import Room

pytestmark = [pytest.mark.slow("a page of SillyTavern"), pytest.mark.nightly]

WORDS = "in the hollow oak behind the chapel"


@pytest.fixture
def room(world: World) -> Iterator[Room]:
    room = Room(world)
    yield room
    room.leave()


def test_a_reply_rewords_what_had_blurred(room: Room) -> None:
    room.enter("reworded", "Mira", "en", KEY)
    window = MemoryWindow(room.world)
    window.soul = room.soul
    page, sidecar = room.page, room.world.sidecar
    key = window.episode(WORDS)
    unit = {"text": WORDS, "gist": "somewhere outside", "visibility": 0.4}
    sidecar.ask("PATCH", f"/memories/{key}", {"units": [unit]})

    prompt = page.send(KEY.question)
    assert prompt.recalled("xxx(somewhere outside)") == 1
    page.send("I see.")  # so the reply stays
    page.sync()
    room.rest()
    until(lambda: window.stored(key)["reworded"] is not None, 30, "the new wording")
    stored = window.stored(key)
    assert FILLED in stored["reworded"]
    assert WORDS in stored["text"], "the original stays"
    assert room.books["totals"]["rewording"]["calls"] == 1

    # It is told that way from then on; history shows both, and undo brings the original back.
    assert page.send(KEY.question).recalled(FILLED) == 1
    page.open_drawer()
    window.open()
    changes = window.turn_to("changes")
    entry = changes.locator(".soulmem_entry", has_text=FILLED.split(" ", 1)[1]).first
    entry.wait_for()
    page.screenshot("reworded-history-en")
    entry.locator(".soulmem_undo").click()
    page.say_yes()
    until(lambda: window.stored(key)["reworded"] is None, 20, "the original is back")
