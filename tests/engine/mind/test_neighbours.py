"""Are neighbours and times of exchanges, continued as chats grow, those that are made anew?"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.ids import ChatId, MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.domain.situation import Participant, Situation, TimeSpan
from soulmem.domain.soul import Soul
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.graph.branches import Branch

SOUL = SoulId("s1")
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
CHATS = (ChatId("a"), ChatId("b"))
EPISODES = 30


def episode(number: int, stored: int) -> Memory:
    """One of what somebody else says at any time, stored at some moment."""
    other = Participant("Al")
    return Memory(
        MemoryId(f"e{number}"),
        SOUL,
        MemoryKind.EPISODE,
        f"line {number}",
        Origin.CHAT,
        created=NOW + timedelta(minutes=stored),
        situation=Situation(
            time_span=TimeSpan(start=NOW + timedelta(minutes=number * 7 % 50)),
            participants=(other,) if number % 4 else (),
        ),
    )


steps = st.one_of(
    st.tuples(st.just("more"), st.integers(0, 1), st.integers(1, 12)),
    st.tuples(st.just("cut"), st.integers(0, 1), st.integers(0, 8)),
    st.tuples(st.just("fork"), st.integers(0, 1), st.integers(0, 8)),
)


def after(step: str, count: int, own: list[int], other: list[int], new: int) -> list[int]:
    """The episodes of a chat after a step: it goes on, is cut, or begins like the other one."""
    if step == "more":
        return own + list(range(new, min(new + count, EPISODES)))
    return own[:count] if step == "cut" else other[:count]


def told(mind: Mind) -> list[object]:
    """All that is cached, as plain values."""
    out: list[object] = []
    for chat in (None, *CHATS):
        beside = mind.neighbours(chat)
        for name in ("before", "after", "pair_in", "pair_out", "position"):
            out.append(getattr(beside, name).tolist())
    sight = mind.frame().visibility
    ages = [sight.exchange_ages(chat, 0).tolist() for chat in (None, *CHATS)]
    return [*out, sight.exchange_times().tolist(), *ages]


def ages_in(mind: Mind, chat: ChatId) -> list[int]:
    """By row how many exchanges follow: in the chat for its rows, at all for the others."""
    ages: list[int] = mind.exchange_ages(None, 0).tolist()
    rows = mind.chat_rows(chat).tolist()
    opens = mind.columns.opens_exchange
    for place, row in enumerate(rows):
        ages[row] = sum(bool(opens[later]) for later in rows[place + 1 :])
    return ages


@given(st.lists(steps, max_size=12), st.booleans())
def test_a_life_tells_what_its_end_tells(
    life: list[tuple[str, int, int]], is_looked_at: bool
) -> None:
    mind = Mind(Soul(SOUL, "Mira", created=NOW))
    by_hand = Memory(MemoryId("n0"), SOUL, MemoryKind.NOTE, "note", Origin.USER, created=NOW)
    mind.apply(MindChange(put_memories=(by_hand,)))
    orders: dict[int, list[int]] = {0: [], 1: []}
    new = 0
    for moment, (step, which, count) in enumerate(life):
        order = after(step, count, orders[which], orders[1 - which], new)
        gone = set(orders[which]) - set(order) - set(orders[1 - which])
        came = [n for n in order if n >= new]
        new = max([new, *(n + 1 for n in came)])
        orders[which] = order
        keys = tuple(MemoryId(f"e{n}") for n in order)
        mind.apply(
            MindChange(
                put_memories=tuple(episode(n, moment // 2) for n in came),
                drop_memories=tuple(MemoryId(f"e{n}") for n in sorted(gone)),
                branch=Branch(CHATS[which], CHATS[0], keys),
            )
        )
        if is_looked_at:
            told(mind)
    mine = told(mind)
    for chat in CHATS:
        assert mind.exchange_ages(chat, 0).tolist() == ages_in(mind, chat)
    sight = mind.frame().visibility
    sight._neighbours.clear()
    sight._exchanges.forget()
    assert mine == told(mind)
