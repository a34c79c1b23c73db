"""The snapshot marks of the store: for each, commits list what they change of the soul since, or delete it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from soulmem.adapters.surreal.connection import Run
from soulmem.adapters.surreal.link import Query, bound
from soulmem.adapters.surreal.rows import Row
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.ports.store import Change, Mark

Marked = tuple[Owner, SoulId]

# ids listed since a mark: reading more rows one by one is no faster than reading all
_MOST = 20_000
_LISTS = ("put", "dropped", "edges", "chats")
_SINCE = "image_change:[$owner, $soul, '']..=[$owner, $soul, ..]"


@dataclass(slots=True)
class _State:
    """number: tells a mark from a later one of the soul; place: of the next list; left: ids that may be listed."""

    number: int
    place: int = 0
    left: int = _MOST


@dataclass(frozen=True, slots=True)
class Touched:
    """What a commit writes about marks: those to delete, with their numbers, and rows that list changes."""

    gone: dict[Marked, int] = field(default_factory=dict)
    lists: list[Row] = field(default_factory=list)


class Marks:
    """The marks of a store that nobody else writes to.

    A mark counts as existing from before it is written until a commit that deletes it has been stored.
    """

    def __init__(self) -> None:
        self._states: dict[Marked, _State] = {}
        self._next_number = count()

    def put(self, owner: Owner, soul: SoulId) -> None:
        """Add a mark that is about to be written, or that was read from the store."""
        self._states[owner, soul] = _State(next(self._next_number))

    def note(self, owner: Owner, soul: SoulId, place: int, ids: int) -> None:
        """Note a stored list of so many ids."""
        state = self._states.get((owner, soul))
        if state is not None:
            state.place = max(state.place, place + 1)
            state.left -= ids

    def touched(self, change: Change) -> Touched:
        """What the change, which is about to be stored, means for the marks.

        One that writes a soul deletes its mark: what follows from its names and settings is not listed.
        """
        out = Touched()
        souls = change.souls_touched() if self._states else frozenset()
        written = {soul.id for soul in change.souls}
        for (owner, soul), state in self._states.items():
            if owner != change.owner or (souls is not None and soul not in souls):
                continue
            lists = _lists(change, soul)
            size = sum(map(len, lists.values()))
            if soul in written or size > state.left:
                out.gone[owner, soul] = state.number
            elif size:
                out.lists.append({"id": [owner, soul, f"{state.place:08}"], **lists})
                state.place += 1
                state.left -= size
        return out

    def remove(self, marks: Mapping[Marked, int]) -> None:
        """Remove these marks, except those that were put again meanwhile."""
        for mark, number in marks.items():
            state = self._states.get(mark)
            if state is not None and state.number == number:
                del self._states[mark]


def _lists(change: Change, soul: SoulId) -> dict[str, list[str]]:
    """The ids of what the change stores or deletes of the soul. What is deleted may be of another."""
    return {
        "put": [m.id for m in change.put_memories if m.soul == soul],
        "dropped": list(change.drop_memories),
        "edges": [
            *(edge.id for edge in change.put_edges if edge.soul == soul),
            *change.drop_edges,
        ],
        "chats": [
            changed.chat.id
            for changed in change.chats
            if soul in changed.chat.souls or soul in changed.chat.cast
        ],
    }


async def read_marks(run: Run) -> Marks:
    """All marks in the store, and how much is listed for each."""
    marks = Marks()
    (ids,) = await run(bound("SELECT VALUE record::id(id) FROM image;"))
    for owner, soul in ids:
        marks.put(Owner(owner), SoulId(soul))
    length = " + ".join(f"array::len({name})" for name in _LISTS)
    (lists,) = await run(bound(f"SELECT VALUE [record::id(id), {length}] FROM image_change;"))
    for (owner, soul, place), ids_listed in lists:
        marks.note(Owner(owner), SoulId(soul), int(place), ids_listed)
    return marks


def marking(owner: Owner, soul: SoulId, token: str) -> Query:
    """The transaction that stores a mark, for which nothing is listed yet."""
    mark = "UPSERT type::record('image', [$owner, $soul]) CONTENT { token: $mark } RETURN NONE;"
    forget = f"DELETE {_SINCE} RETURN NONE;"
    return bound(f"BEGIN;{forget}{mark}COMMIT;", owner=owner, soul=soul, mark=token)


async def read_mark(run: Run, owner: Owner, soul: SoulId) -> Mark | None:
    """The mark of a soul; None if it has none."""
    token_of = "SELECT VALUE token FROM ONLY type::record('image', [$owner, $soul]);"
    (token,) = await run(bound(token_of, owner=owner, soul=soul))
    if token is None:
        return None
    fields = ", ".join(_LISTS)
    (lists,) = await run(bound(f"SELECT {fields} FROM {_SINCE};", owner=owner, soul=soul))

    def every(name: str) -> Iterator[str]:
        for row in lists:
            yield from row[name]

    return Mark(
        str(token),
        put=frozenset(map(MemoryId, every("put"))),
        dropped=frozenset(map(MemoryId, every("dropped"))),
        edges=frozenset(every("edges")),
        chats=frozenset(map(ChatId, every("chats"))),
    )
