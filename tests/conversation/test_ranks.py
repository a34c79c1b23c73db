"""Which sort keys do the messages of a chat get, and when is its last message settled?"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from soulmem.conversation.sync import ranks_for, settled_tail
from soulmem.domain.dialogue import Message, Version, text_hash
from soulmem.domain.ids import SlotId
from tests.conversation.listings import chats, message

GAP = 1 << 20


def fresh(messages: list[Message], gap: int = GAP) -> Sequence[int]:
    """Keys of a chat that is stored for the first time."""
    return ranks_for([], [], messages, gap)


@given(st.lists(chats(), min_size=1, max_size=12), st.sampled_from([1, 2, 3, GAP]))
def test_keys_ascend_and_never_repeat(versions: list[list[Message]], gap: int) -> None:
    """After any series of listings, even where no room was left between two keys."""
    stored: list[Message] = []
    ranks: Sequence[int] = ()
    for now in versions:
        ranks = ranks_for(stored, ranks, now, gap)
        stored = now
        assert len(ranks) == len(now)
        assert list(ranks) == sorted(set(ranks))


@given(data=st.data(), old=chats())
def test_an_insertion_moves_nobody(data: st.DataObject, old: list[Message]) -> None:
    """Messages that were there keep their keys when others come between them."""
    ranks = fresh(old)
    at = data.draw(st.integers(0, len(old)))
    new = [message(f"n{i}") for i in range(data.draw(st.integers(0, 3)))]
    now = ranks_for(old, ranks, old[:at] + new + old[at:], GAP)
    assert [*now[:at], *now[at + len(new) :]] == list(ranks)


@given(data=st.data(), old=chats())
def test_a_deletion_moves_nobody(data: st.DataObject, old: list[Message]) -> None:
    """The others keep their keys, so nothing of them is written again."""
    ranks = fresh(old)
    kept = data.draw(st.sets(st.sampled_from(range(len(old))))) if old else set()
    now = ranks_for(old, ranks, [m for i, m in enumerate(old) if i in kept], GAP)
    assert now == tuple(r for i, r in enumerate(ranks) if i in kept)


def test_new_wording_keeps_the_key() -> None:
    """An edit is the same slot at the same place."""
    old = [message("m0", "a"), message("m1", "b"), message("m2", "c")]
    edited = [old[0], message("m1", "edited"), old[2]]
    assert ranks_for(old, fresh(old), edited, GAP) == fresh(old)


def test_all_are_dealt_out_anew_when_the_room_is_used_up() -> None:
    """Twenty insertions at one place halve the gap away; the next deals out a gap to everybody."""
    chat = [message("a"), message("z")]
    ranks = fresh(chat)
    last = ranks[1]
    insertions = 0
    while ranks[-1] == last and insertions < 40:
        now = [chat[0], message(f"n{insertions}"), *chat[1:]]
        ranks = ranks_for(chat, ranks, now, GAP)
        chat = now
        insertions += 1
    assert insertions == 21
    assert ranks == tuple(GAP * (i + 1) for i in range(len(chat)))


def tail_after(
    stored: list[Message], now: list[Message], tail: Version | None = None
) -> Version | None:
    """`settled_tail` with the index of the stored messages."""
    return settled_tail(stored, {m.slot: i for i, m in enumerate(stored)}, now, tail)


@given(stored=chats(), now=chats(), was_settled=st.booleans())
def test_the_last_message_is_settled_once_something_followed_it(
    stored: list[Message], now: list[Message], was_settled: bool
) -> None:
    """It counts when this very wording was followed, or was the settled end already; else it waits."""
    tail = stored[-1].version if stored and was_settled else None
    followed = {m.version for m in stored[:-1]}
    expected = bool(now) and (now[-1].version in followed or now[-1].version == tail)
    assert tail_after(stored, now, tail) == (now[-1].version if expected else None)


def test_a_swipe_of_a_settled_end_waits_again() -> None:
    """The closed chat's last reply was settled; another wording of it is not."""
    old = [message("m0", "a"), message("m1", "b")]
    settled = Version(SlotId("m1"), text_hash("b"))
    assert tail_after(old, old, settled) == settled
    assert tail_after(old, [old[0], message("m1", "swiped")], settled) is None
