"""What a player does to messages that are there, as rules of a state machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from soulmem.domain.dialogue import Role, SentMessage
from tests.engine.namer import PICK
from tests.engine.stage import line
from tests.engine.told import LINES, Told

TEXTS = st.sampled_from(LINES)
ROLES = st.sampled_from([Role.USER, Role.CHARACTER, Role.CHARACTER, Role.NARRATOR, Role.SYSTEM])
HOWS = st.sampled_from(["full", "bare", "base", "base", "later"])
PRESENT = st.sampled_from([None, None, ("s1",), ("s2",), ("s1", "s2"), ()])


class Reteller(RuleBasedStateMachine):
    """Needs what `Player` has."""

    any_shown: Callable[[], bool]
    pick: Callable[[int], Told]
    fresh: Callable[[str], SentMessage]
    show: Callable[[Told, str], None]

    @precondition(lambda self: self.any_shown())
    @rule(pick=PICK, at=PICK, text=TEXTS, how=HOWS)
    def edit(self, pick: int, at: int, text: str, how: str) -> None:
        self.alter(
            pick,
            at,
            how,
            lambda m: replace(line(m.slot, text, m.role), sent_at=m.sent_at),
        )

    @precondition(lambda self: self.any_shown())
    @rule(pick=PICK, at=PICK, how=HOWS)
    def hide(self, pick: int, at: int, how: str) -> None:
        self.alter(pick, at, how, lambda m: replace(m, hidden=not m.hidden))

    @precondition(lambda self: self.any_shown())
    @rule(pick=PICK, at=PICK, present=PRESENT, how=HOWS)
    def come_or_leave(self, pick: int, at: int, present: Any, how: str) -> None:
        self.alter(pick, at, how, lambda m: replace(m, present=present))

    def alter(
        self, pick: int, at: int, how: str, change: Callable[[SentMessage], SentMessage]
    ) -> None:
        """Change one message; presence is sent without a base, as the contract asks."""
        chat = self.pick(pick)
        if chat.messages:
            at %= len(chat.messages)
            chat.messages[at] = change(chat.messages[at])
            self.show(chat, how)

    @precondition(lambda self: self.any_shown())
    @rule(pick=PICK, text=TEXTS, how=HOWS)
    def swipe(self, pick: int, text: str, how: str) -> None:
        self.alter(
            pick,
            len(self.pick(pick).messages) - 1,
            how,
            lambda m: line(m.slot, text, Role.CHARACTER, swipe=1),
        )

    @precondition(lambda self: self.any_shown())
    @rule(pick=PICK, at=PICK, speaker=st.sampled_from(["Al", "Alicia"]))
    def rename(self, pick: int, at: int, speaker: str) -> None:
        """As the contract asks, without a base."""
        self.alter(pick, at, "bare", lambda m: replace(m, speaker=speaker))

    @precondition(lambda self: self.any_shown())
    @rule(pick=PICK, at=PICK, role=ROLES)
    def speak_as(self, pick: int, at: int, role: Role) -> None:
        """The same words of the same speaker, told by the narrator say; without a base, too."""
        self.alter(pick, at, "bare", lambda m: replace(m, role=role))

    @precondition(lambda self: self.any_shown())
    @rule(pick=PICK, at=PICK, count=st.integers(1, 3), how=HOWS)
    def delete(self, pick: int, at: int, count: int, how: str) -> None:
        chat = self.pick(pick)
        if chat.messages:
            at %= len(chat.messages)
            del chat.messages[at : at + count]
            self.show(chat, how)

    @precondition(lambda self: self.any_shown())
    @rule(pick=PICK, at=PICK, text=TEXTS, how=HOWS)
    def insert(self, pick: int, at: int, text: str, how: str) -> None:
        chat = self.pick(pick)
        chat.messages.insert(at % (len(chat.messages) + 1), self.fresh(text))
        self.show(chat, how)
