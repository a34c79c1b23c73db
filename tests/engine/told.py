"""What the clients show: chats as a player has them on the screen, and a naive idea of who remembers what."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from soulmem.domain.dialogue import Base, Role, SentMessage
from soulmem.domain.ids import SlotId
from tests.engine.stage import Stage, bare

OUT_OF_CHARACTER = "(OOC: brb)"
# What players say in a random life: names, some in two scripts, and nothing much.
LINES = (
    *(
        "Yes.",
        "I lost the ring.",
        "雨停了",
        "We meet at noon.",
        OUT_OF_CHARACTER,
        "Never!",
    ),
    *(
        "Ask Kaelith.",
        "kaelith has it, Kaelith!",
        "林月来了。",
        "Where is Lin Yue?",
        "Castle Kaelith fell.",
    ),
)


@dataclass
class Told:
    """A chat on the screen, and what of it the sidecar was last told."""

    id: str
    souls: tuple[str, ...]
    messages: list[SentMessage] = field(default_factory=list)
    parent: tuple[str, str] | None = None
    synced: list[SentMessage] | None = None  # None: never sent, or in the bin

    async def show(self, stage: Stage, how: str, *, confirm: bool = True) -> None:
        """Sync as a client does: `full` with all texts, `bare` with none, `base` with what is new."""
        now = list(self.messages)
        count = 0
        base: Base | None = None
        if how == "base" and self.synced is not None:
            pairs = zip(now, self.synced, strict=False)
            count = next(
                (i for i, (a, b) in enumerate(pairs) if a != b),
                min(len(now), len(self.synced)),
            )
            base = Base(count, digest_of(now[:count]))
        listing = now[count:] if how == "full" else bare(now[count:])
        answer = await stage.sync(
            self.id,
            listing,
            souls=self.souls,
            parent=self.parent,
            base=base,
            confirm=confirm,
        )
        if answer.needs_text:
            listing = [
                m if m.slot in answer.needs_text else replace(m, text=None) for m in now[count:]
            ]
            answer = await stage.sync(
                self.id,
                listing,
                souls=self.souls,
                parent=self.parent,
                base=base,
                confirm=confirm,
            )
        if answer.held is None:
            assert answer.applied
            self.synced = now

    def remembered_by(self, soul: str) -> list[tuple[SlotId, str]]:
        """Slot and hash of what the soul must remember of it, its last message left out, in order."""
        return [
            (m.slot, m.hash)
            for m in self.messages[:-1]
            if soul in (self.souls if m.present is None else m.present)
            and m.role is not Role.SYSTEM
            and m.text != OUT_OF_CHARACTER
        ]


def digest_of(messages: Iterable[SentMessage]) -> str:
    """The contract's digest of a listing."""
    lines = "".join(f"{m.slot}:{m.hash}:{int(m.hidden)}\n" for m in messages)
    return hashlib.sha256(lines.encode()).hexdigest()


async def replayed(chats: Iterable[Told], stage: Stage) -> None:
    """The chats as they are now, told to a new engine once each, under other names and in another order."""
    for chat in sorted(chats, key=lambda c: c.id, reverse=True):
        parent = chat.parent
        messages = [replace(m, slot=SlotId(f"z{m.slot}")) for m in chat.messages]
        await stage.sync(
            f"again-{chat.id}",
            messages,
            souls=chat.souls,
            parent=(f"again-{parent[0]}", f"z{parent[1]}") if parent else None,
        )
