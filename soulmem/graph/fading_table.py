"""The fading records of a soul, by memory; most memories have none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import MemoryId, SoulId
from soulmem.graph.packed_fading import packed_fading, unpacked_fading


class FadingTable:
    """Records of how texts fade, by memory; kept packed, since a long life leaves thousands of them."""

    def __init__(self, soul: SoulId) -> None:
        self._soul = soul
        self._packed: dict[MemoryId, bytes] = {}
        # By the episode of a reply: the memories that it reworded
        self._reworded: dict[MemoryId, set[MemoryId]] = {}
        self._revision = 0

    def __len__(self) -> int:
        return len(self._packed)

    def __iter__(self) -> Iterator[FadingRecord]:
        return map(self._unpacked, list(self._packed))

    @property
    def revision(self) -> int:
        """Differs after each change of a record."""
        return self._revision

    def put(self, records: Iterable[FadingRecord]) -> None:
        """Add or replace records; one that says nothing is dropped."""
        for record in records:
            self._revision += 1
            self._forget_reply(record.memory)
            if record.reply is not None:
                self._reworded.setdefault(record.reply, set()).add(record.memory)
            self._packed[record.memory] = msgspec.msgpack.encode(packed_fading(record))
            if record.is_empty:
                self._forget_reply(record.memory)
                del self._packed[record.memory]

    def drop(self, memories: Iterable[MemoryId]) -> None:
        """Drop the records of these memories; those without one are ignored."""
        for memory in memories:
            self._revision += memory in self._packed
            self._forget_reply(memory)
            self._packed.pop(memory, None)

    def of(self, memory: MemoryId) -> FadingRecord | None:
        """The record of the memory, or None."""
        return self._unpacked(memory) if memory in self._packed else None

    def reworded_by(self, replies: Iterable[MemoryId]) -> list[MemoryId]:
        """The memories whose wording is by one of these replies, in the order of their ids."""
        sets = (self._reworded.get(reply, ()) for reply in replies)
        return sorted(set[MemoryId]().union(*sets))

    def _forget_reply(self, memory: MemoryId) -> None:
        """Before the memory's record is replaced or dropped."""
        if memory not in self._packed or not self._reworded:
            return
        reply = self._unpacked(memory).reply
        others = self._reworded.get(reply) if reply is not None else None
        if reply is not None and others is not None:
            others.discard(memory)
            if not others:
                del self._reworded[reply]

    def _unpacked(self, memory: MemoryId) -> FadingRecord:
        values = msgspec.msgpack.decode(self._packed[memory])
        return unpacked_fading(values, memory, self._soul)
