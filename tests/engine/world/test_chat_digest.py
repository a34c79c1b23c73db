"""The digest of a chat that grows, is cut and is edited is that of all its messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from soulmem.domain.dialogue import Message, Role, digest, text_hash
from soulmem.domain.ids import SlotId
from soulmem.engine.world.message_log import ChatDigest


def chat(count: int) -> list[Message]:
    return [
        Message(SlotId(f"m{n}"), text_hash(f"{n}"), Role.USER, "Al", f"{n}") for n in range(count)
    ]


def test_it_is_the_digest_of_all_messages_whatever_came_before() -> None:
    said, of = chat(30), ChatDigest().of
    edited = [*said[:10], replace(said[10], hash="0" * 16), *said[11:]]
    hidden = [*said[:-1], replace(said[-1], hidden=True)]
    for messages in (said[:20], said, said, said[:5], [], said, edited, hidden, said):
        assert of(messages) == digest(messages)


def test_messages_in_front_are_not_read_again() -> None:
    said, digests = chat(1000), ChatDigest()
    digests.of(said)

    class Unread(Message):
        """Equal to any message, and has no slot to be read."""

        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

        def __getattribute__(self, name: str) -> object:
            if name in ("slot", "hash", "hidden"):
                raise AssertionError(f"{name} of an old message is read")
            return super().__getattribute__(name)

    front = Unread(SlotId("m0"), said[0].hash, Role.USER, "Al", "0")
    fresh = Message(SlotId("new"), text_hash("new"), Role.USER, "Al", "new")
    assert digests.of([front, *said[1:], fresh]) == digest([*said, fresh])


def test_a_message_that_cannot_be_hashed_spoils_no_later_digest() -> None:
    said, digests = chat(3), ChatDigest()
    digests.of(said)
    with pytest.raises(UnicodeEncodeError):
        digests.of([replace(said[0], slot=SlotId("\ud83d")), *said[1:]])
    assert digests.of(said) == digest(said)
