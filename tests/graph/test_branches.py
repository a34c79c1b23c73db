"""Which chat holds which episodes, and what does a new branch change?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.ids import ChatId, MemoryId
from soulmem.graph.branches import Branch, Branches

CHATS = ("c1", "c2", "c3")
EPISODES = [MemoryId(f"e{i}") for i in range(7)]
ORDERS = st.lists(st.sampled_from(EPISODES), unique=True, max_size=7)


@st.composite
def branches(draw: st.DrawFn) -> Branch:
    """A chat as a soul lived it, some of it held perhaps."""
    order = draw(ORDERS)
    quarantined = draw(st.frozensets(st.sampled_from(order))) if order else frozenset()
    return Branch(ChatId(draw(st.sampled_from(CHATS))), ChatId("c1"), tuple(order), quarantined)


def told(branches_now: Iterable[Branch]) -> set[MemoryId]:
    """Episodes that some chat holds."""
    return {m for s in branches_now for m in s.order}


def paired(branches_now: Iterable[Branch]) -> set[tuple[MemoryId, MemoryId]]:
    """Pairs that follow each other in some chat."""
    return {p for s in branches_now for p in pairwise(s.order)}


@given(st.lists(branches(), max_size=12))
def test_branches_agree_with_recounting_everything(series: list[Branch]) -> None:
    """Holders, pairs and what comes and goes, after any series of branches of several chats."""
    branches = Branches()
    current: dict[ChatId, Branch] = {}
    for new in series:
        before = dict(current)
        current[new.chat] = new
        change = branches.compare(new)
        assert set(change.came) == told(current.values()) - told(before.values())
        assert set(change.went) == told(before.values()) - told(current.values())
        assert set(change.paired) == paired(current.values()) - paired(before.values())
        assert set(change.parted) == paired(before.values()) - paired(current.values())
        for listed in (change.came, change.went, change.paired, change.parted):
            assert len(set(listed)) == len(listed)
        assert branches.put(new) == list(change.paired)
        assert {s.chat: s for s in branches} == {chat: s for chat, s in current.items() if s.order}
        for memory in EPISODES:
            holders = {chat for chat, s in current.items() if memory in s.order}
            assert set(branches.holders(memory)) == holders
            assert len(branches.holders(memory)) == len(holders)
            assert branches.is_live(memory) == any(
                memory not in current[chat].quarantined for chat in holders
            )
        for chat in map(ChatId, CHATS):
            state = current.get(chat) or Branch(chat, chat, ())
            asked = EPISODES[len(series) % 3 :: 3]
            assert branches.holds(chat, asked) == set(asked).issubset(state.order)
            shown = set(state.order) - state.quarantined
            assert branches.shows(chat, asked) == shown.issuperset(asked)
        for pair in paired(before.values()) | paired(current.values()):
            assert branches.has_pair(pair) == (pair in paired(current.values()))


def test_comparing_changes_nothing() -> None:
    """Only `put` does: the store comes first and may refuse."""
    branches = Branches()
    a, b = EPISODES[:2]
    branches.put(Branch(ChatId("c1"), ChatId("c1"), (a, b)))
    branches.compare(Branch(ChatId("c1"), ChatId("c1"), (b,)))
    assert branches.holders(a) == ("c1",)
    assert branches.branch(ChatId("c1")) == Branch(ChatId("c1"), ChatId("c1"), (a, b))


def test_a_memory_names_the_chat_that_told_it_first_first() -> None:
    """A branch comes after its parent, whichever is synced again."""
    branches = Branches()
    a, b = EPISODES[:2]
    branches.put(Branch(ChatId("c2"), ChatId("c2"), (a,)))
    branches.put(Branch(ChatId("c1"), ChatId("c2"), (a,)))
    branches.put(Branch(ChatId("c2"), ChatId("c2"), (a, b)))
    assert branches.holders(a) == ("c2", "c1")


def test_a_chat_without_episodes_is_forgotten() -> None:
    """Nothing of it is left to ask for."""
    branches = Branches()
    branches.put(Branch(ChatId("c1"), ChatId("c1"), (EPISODES[0],)))
    branches.put(Branch(ChatId("c1"), ChatId("c1"), ()))
    assert list(branches) == []
    assert branches.branch(ChatId("c1")) is None
    assert not branches.is_live(EPISODES[0])
