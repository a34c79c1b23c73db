"""In which steps does a bundle enter a soul that holds something already? What is there is left as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from soulmem.conversation.episodes import episode_id
from soulmem.domain.derivations import Derivation
from soulmem.domain.dialogue import Chat, ChatState, Message
from soulmem.domain.edges import Edge, check_join
from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId
from soulmem.domain.memories import Memory, Origin
from soulmem.domain.opinions import Opinion
from soulmem.domain.soul import Soul
from soulmem.domain.usage import RecallRecord, Usage
from soulmem.engine.exchange.bundle_renaming import family_of
from soulmem.ports.store import RANK_GAP, Change, ChatChange, RankedMessage
from soulmem.transfer.bundle import Bundle

_PIECE = 500  # messages, or memories, that are stored in one go


@dataclass(frozen=True, slots=True)
class Here:
    """What is stored of the soul, and of the chats that the bundle brings."""

    soul: Soul
    memories: Set[MemoryId]
    edges: Set[str]
    recalls: Set[str]  # traces
    chats: Mapping[ChatId, Chat]  # all heads of the owner
    messages: Mapping[
        ChatId, Sequence[Message]
    ]  # of the chats that the bundle has, too
    derivations: Set[str] = frozenset()
    foreign: Set[MemoryId] = (
        frozenset()
    )  # ids of the bundle that memories of other souls have


@dataclass(slots=True)
class Step:
    """What is stored in one go: whole, or not at all.

    `chat` is to be as given up to message `stop`; it is stored up to `start`, which is -1 for one that is new
    or comes out of the bin.
    """

    soul: Soul | None = None
    chat: Chat | None = None
    start: int = -1
    stop: int = 0
    drop: tuple[SlotId, ...] = ()
    memories: list[Memory] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    recalls: list[RecallRecord] = field(default_factory=list)
    opinions: list[Opinion] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)

    def change(self, owner: Owner, messages: Sequence[Message]) -> Change:
        """For the store; `messages` are all of the chat."""
        first = max(self.start, 0)
        put = [
            RankedMessage((at + 1) * RANK_GAP, messages[at])
            for at in range(first, self.stop)
        ]
        return Change(
            owner=owner,
            souls=[self.soul] if self.soul else [],
            chats=[ChatChange(self.chat, put, self.drop)] if self.chat else [],
            put_memories=self.memories,
            put_edges=self.edges,
            put_usages=self.usages,
            put_recalls=self.recalls,
            put_opinions=self.opinions,
            put_derivations=self.derivations,
        )

    @property
    def lines(self) -> int:
        """How many lines of the bundle it stores."""
        said = self.stop - max(self.start, 0) if self.chat else 0
        graph: tuple[Sequence[object], ...] = (
            self.memories,
            self.edges,
            self.usages,
            self.recalls,
        )
        return said + sum(map(len, (*graph, self.opinions, self.derivations)))


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order, and what is left out."""

    steps: Sequence[Step]
    known: int  # memories that are here already
    foreign: int  # memories whose id a memory of another soul has
    kept_chats: tuple[
        ChatId, ...
    ]  # chats that are here with other messages, and stay as they are


def plan(bundle: Bundle, here: Here) -> Plan:
    """How the bundle, which is of this soul, enters. Computes."""
    as_written = _as_written(bundle, here)
    new = {
        key: memory
        for key, memory in bundle.memories.items()
        if key not in here.memories
    }
    foreign = {key for key in new if key in here.foreign}
    wanted = {
        key: memory
        for key, memory in new.items()
        if key not in foreign and (as_written or memory.origin is Origin.USER)
    }
    steps: list[Step] = []
    if not here.memories and bundle.soul is not None:
        steps.append(Step(soul=_soul(bundle.soul, here.soul)))
    by_hand = [memory for memory in wanted.values() if memory.origin is not Origin.CHAT]
    placed = {memory.id for memory in by_hand}
    for start in range(0, len(by_hand), _PIECE):
        steps.append(Step(memories=by_hand[start : start + _PIECE]))
    kept: list[ChatId] = []
    for chat in bundle.chats.values():
        added = _chat_steps(chat, bundle, here, wanted, placed)
        if added is None:
            kept.append(chat.id)
        else:
            steps += added
    # Of other chats, or of messages that are gone: in the bin, or mended when the soul is opened.
    rest = [
        m for m in wanted.values() if m.origin is Origin.CHAT and m.id not in placed
    ]
    for start in range(0, len(rest), _PIECE):
        steps.append(Step(memories=rest[start : start + _PIECE]))
    _join(steps, bundle, here)
    records = (
        [r for trace, r in bundle.recalls.items() if trace not in here.recalls]
        if as_written
        else []
    )
    if records:
        steps.append(Step(recalls=records))
    derived = [
        one for key, one in bundle.derivations.items() if key not in here.derivations
    ]
    if as_written and derived:
        steps.append(Step(derivations=derived))
    known = len(bundle.memories) - len(new)
    return Plan(
        [s for s in steps if s.lines or s.soul or s.chat],
        known,
        len(foreign),
        tuple(kept),
    )


def _as_written(bundle: Bundle, here: Here) -> bool:
    """Whether what the chats told there is what they tell here: else it is derived anew from the messages.

    That is so for a whole bundle, where nothing is but what this one or an import that was cut off brought.
    """
    told = bundle.soul
    if not bundle.whole or told is None or not here.memories <= bundle.memories.keys():
        return False
    hidden = told.settings.remember_hidden, here.soul.settings.remember_hidden
    return not here.memories or (
        told.names == here.soul.names and hidden[0] == hidden[1]
    )


def _soul(told: Soul, here: Soul) -> Soul:
    """The names and settings of the bundle; the name stays what the user calls it here."""
    return replace(here, names=told.names, settings=told.settings)


def _chat_steps(
    chat: Chat,
    bundle: Bundle,
    here: Here,
    wanted: Mapping[MemoryId, Memory],
    placed: set[MemoryId],
) -> list[Step] | None:
    """The steps of a chat with the memories that it tells; None for one that stays as it is.

    A piece leaves the memory of its last message to the next one: until something follows it, it is not
    settled.
    """
    messages = bundle.messages[chat.id]
    stored, said = here.chats.get(chat.id), here.messages.get(chat.id, ())
    start, drop = _where(chat, messages, stored, said)
    if start is None:
        return None
    family = family_of(chat.id, bundle.chats, here.chats)
    told: list[Memory | None] = []
    for message in messages:
        found = wanted.get(episode_id(here.soul.id, family, message))
        told.append(None if found is None or found.id in placed else found)
        if found is not None:
            placed.add(found.id)
    if start == len(messages) and stored is not None:
        missing = [memory for memory in told if memory is not None]
        return [
            Step(memories=missing[at : at + _PIECE])
            for at in range(0, len(missing), _PIECE)
        ]
    steps: list[Step] = []
    stop, from_memory = max(start, 0), max(start - 1, 0)
    while not steps or stop < len(messages):
        begin, stop = stop, min(stop + _PIECE, len(messages))
        to_memory = stop if stop == len(messages) else stop - 1
        memories = [
            memory for memory in told[from_memory:to_memory] if memory is not None
        ]
        first = start if not steps else begin
        steps.append(
            Step(
                chat=chat,
                start=first,
                stop=stop,
                drop=drop if not steps else (),
                memories=memories,
            )
        )
        from_memory = to_memory
    return steps


def _where(
    chat: Chat,
    messages: Sequence[Message],
    stored: Chat | None,
    said: Sequence[Message],
) -> tuple[int | None, tuple[SlotId, ...]]:
    """From which message on the chat is to be stored, -1 for a new one; None to leave it alone."""
    if stored is None:
        return -1, ()
    if stored.state is ChatState.BIN and chat.state is ChatState.ACTIVE:
        kept = {message.slot for message in messages}
        return -1, tuple(message.slot for message in said if message.slot not in kept)
    if list(said) == list(messages[: len(said)]) and (
        stored == chat or len(said) == len(messages)
    ):
        return len(said), ()  # it is there, or what a stop left of it
    return None, ()


def _join(steps: Sequence[Step], bundle: Bundle, here: Here) -> None:
    """Give each new edge to the step after which both its ends are there, and usages and opinions to what
    they are of.
    """
    at = {
        memory.id: place for place, step in enumerate(steps) for memory in step.memories
    }
    of_edge: dict[str, int] = {}
    for key, edge in bundle.edges.items():
        ends = [
            at.get(end, -1 if end in here.memories else None)
            for end in (edge.source, edge.target)
        ]
        if key in here.edges or None in ends or not _legal(edge, bundle):
            continue
        place = max(end for end in ends if end is not None)
        if place >= 0:  # between two that were here it is the user's to say
            steps[place].edges.append(edge)
            of_edge[key] = place
    for memory, usage in bundle.usages.items():
        place = at.get(
            memory, of_edge.get(memory, -1)
        )  # a relation is recalled by its edge's id
        if place >= 0:
            steps[place].usages.append(usage)
    for memory, opinion in bundle.opinions.items():
        place = at.get(memory, of_edge.get(memory, -1))
        if place >= 0:
            steps[place].opinions.append(opinion)


def _legal(edge: Edge, bundle: Bundle) -> bool:
    """Whether an edge of that kind may join what it joins, as far as the bundle tells."""
    source, target = bundle.memories.get(edge.source), bundle.memories.get(edge.target)
    if source is None or target is None or source is target:
        return False
    try:
        check_join(edge.kind, source.kind, target.kind)
    except Unprocessable:
        return False
    return True
