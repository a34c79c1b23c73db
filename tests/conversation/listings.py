"""Chats of a few short messages, made up by hypothesis, and the naive idea of what a sync does to them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from soulmem.domain.dialogue import Message, Role, SentMessage, text_hash
from soulmem.domain.ids import SlotId, SoulId


def message(slot: str, text: str = "hi", *, hidden: bool = False, present: bool = True) -> Message:
    """A stored message."""
    where = None if present else (SoulId("s2"),)
    return Message(
        SlotId(slot),
        text_hash(text),
        Role.USER,
        "Al",
        text,
        hidden=hidden,
        present=where,
    )


def sent(stored: Message, *, with_text: bool = True) -> SentMessage:
    """How a client lists that message."""
    return SentMessage(
        stored.slot,
        stored.hash,
        stored.role,
        stored.speaker,
        hidden=stored.hidden,
        present=stored.present,
        text=stored.text if with_text else None,
    )


def chats(max_size: int = 8, slots: int = 12) -> st.SearchStrategy[list[Message]]:
    """Messages in any order, each slot once; few slots and texts, so that two chats share many."""
    one = st.builds(
        message,
        st.integers(0, slots - 1).map("m{}".format),
        st.sampled_from(["a", "b", "雨"]),
        hidden=st.booleans(),
        present=st.booleans(),
    )
    return st.lists(one, max_size=max_size, unique_by=lambda m: m.slot)


def known_to(*chat_logs: Sequence[Message]) -> dict[tuple[str, str], str]:
    """Texts by slot and hash."""
    return {(m.slot, m.hash): m.text for log in chat_logs for m in log}
