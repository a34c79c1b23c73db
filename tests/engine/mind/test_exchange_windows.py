"""Is an exchange a line of somebody else and what the soul says before the next one, in each chat as it is now?"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.ids import ChatId
from soulmem.engine.mind.exchange_windows import ExchangeWindows
from soulmem.engine.mind.mind import Mind
from soulmem.graph.windows import Numbers, Windows
from tests.engine.stage import Stage, line

ROLES = (Role.USER, Role.CHARACTER, Role.CHARACTER, Role.NARRATOR)


def told(mind: Mind, chat: str) -> set[frozenset[str]]:
    """The windows of the episodes that the chat holds, as texts."""
    windows = mind.exchange_windows(ChatId(chat))
    assert windows.of.tolist() == made_anew(mind, chat).of.tolist()
    held = set(mind.chat_rows(ChatId(chat)).tolist())
    assert windows.of.size == mind.size
    assert sorted(windows.members.tolist()) == list(range(mind.size))
    out = set()
    for window in {int(windows.of[row]) for row in held}:
        rows = windows.members[windows.starts[window] : windows.starts[window + 1]]
        assert (windows.of[rows] == window).all()
        out.add(frozenset(mind.memory_at(row).text for row in {*rows.tolist()} & held))
    return out


def made_anew(mind: Mind, chat: str) -> Windows:
    """The windows without what was kept of earlier ones."""
    chats = {branch.chat: mind.chat_rows(branch.chat) for branch in mind.branches}
    return ExchangeWindows(mind.columns).of(ChatId(chat), chats, mind.size)


def exchanges(messages: list[SentMessage]) -> Iterator[frozenset[str]]:
    """A plain loop over the messages; what the soul says before any line of others stands by itself."""
    exchange: list[str] = []
    has_opened = False
    for message in messages:
        opens = message.role is not Role.CHARACTER
        if exchange and (opens or not has_opened):
            yield frozenset(exchange)
            exchange = []
        has_opened = has_opened or opens
        speaker = f"{message.speaker}: " if message.speaker else ""
        exchange.append(f"{speaker}{message.text}")
    if exchange:
        yield frozenset(exchange)


@pytest.mark.parametrize("seed", range(6))
async def test_they_are_those_of_a_plain_loop_whatever_led_there(stage: Stage, seed: int) -> None:
    """Messages that come, are reworded, swiped and deleted, in a chat and a branch of it."""
    draw, slots = random.Random(seed), iter(range(10_000))
    chats: dict[str, list[SentMessage]] = {"c1": [], "c2": []}

    def fresh(slot: str, role: Role) -> SentMessage:
        return line(slot, f"Text number {next(slots)}.", role)

    for step in range(24):
        chat = "c2" if step >= 12 and draw.random() < 0.5 else "c1"
        messages = chats[chat]
        move, index = draw.random(), draw.randrange(len(messages) + 1)
        if step == 12:
            fork = draw.randrange(1, len(chats["c1"]) + 1)
            chats["c2"] = messages = chats["c1"][:fork]
            chat = "c2"
            messages.append(fresh(f"b{step}", Role.CHARACTER))
        elif move < 0.7 or len(messages) < 3:
            messages.append(fresh(f"m{step}", draw.choice(ROLES)))
        elif move < 0.85 or chat == "c2":
            old = messages[index - 1]
            messages[index - 1] = fresh(old.slot, old.role)
        else:
            del messages[index - 1]
        parent = None
        if step == 12:
            parent = ("c1", messages[-2].slot)
        await stage.sync(chat, messages, parent=parent, confirm=True)
        mind = await stage.mind()
        for name, said in chats.items():
            found = told(mind, name)
            known = frozenset[str]().union(*found)
            expected = {exchange & known for exchange in exchanges(said)}
            assert found == expected - {frozenset()}
            # The last message is no memory before another has followed it.
            assert known >= frozenset[str]().union(*exchanges(said[:-1]))


async def test_a_message_at_the_end_continues_them_and_any_other_change_makes_them_anew(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[int]()
    plain = Windows.by

    def by(of: Numbers) -> Windows:
        made.append(of.size)
        return plain(of)

    monkeypatch.setattr(Windows, "by", staticmethod(by))
    roles = (Role.USER, Role.CHARACTER, Role.CHARACTER)
    said = [line(f"m{n}", f"Text number {n}.", roles[n % 3]) for n in range(12)]
    for count in range(4, 13):
        await stage.sync("c", said[:count])
        assert told(await stage.mind(), "c")
    looks = len(made)
    assert looks == 10  # once, and for each look of this test itself
    await stage.sync("c", [*said[:3], *said[4:]], confirm=True)
    told(await stage.mind(), "c")
    assert len(made) == looks + 2
