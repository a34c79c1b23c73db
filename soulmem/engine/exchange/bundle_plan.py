"""Plans how a bundle enters a soul: steps that are each stored as a whole. What exists already is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypeVar

from soulmem.conversation.episodes import episode_id
from soulmem.domain.audit import Actor
from soulmem.domain.derivations import Derivation
from soulmem.domain.dialogue import Chat, ChatState, Message
from soulmem.domain.edges import Edge, check_join
from soulmem.domain.errors import Unprocessable
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import ChatId, MemoryId, Owner, SlotId
from soulmem.domain.memories import Memory, Origin
from soulmem.domain.opinions import Opinion
from soulmem.domain.soul import Soul
from soulmem.domain.usage import RecallRecord, Usage
from soulmem.engine.exchange.bundle_renaming import branch_root
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.message_log import remembered_parts, stories_of
from soulmem.ports.store import RANK_GAP, Change, ChatChange, RankedMessage
from soulmem.transfer.bundle import Bundle

T = TypeVar("T")

_PIECE = 500  # messages, or memories, of one step


@dataclass(frozen=True, slots=True)
class StoredState:
    """What is stored of the soul, and of the chats that the bundle brings."""

    soul: Soul
    memories: Set[MemoryId]
    edges: Set[str]
    recalls: Set[str]  # traces
    chats: Mapping[ChatId, Chat]  # all heads of the owner
    messages: Mapping[ChatId, Sequence[Message]]  # of chats that the bundle has, too
    derivations: Set[str] = frozenset()
    foreign: Set[MemoryId] = frozenset()  # bundle ids that other souls use
    forgotten: Set[MemoryId] = frozenset()  # episodes among `memories` that take no edges


@dataclass(slots=True)
class Step:
    """What is stored in one transaction.

    Messages `start` .. `stop` of `chat` are stored, and the messages `drop` removed.
    `start` is -1 for a chat that is new or comes out of the bin.
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
    fading: list[FadingRecord] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)

    def change(self, owner: Owner, messages: Sequence[Message]) -> Change:
        """The change for the store; `messages` are all of the chat."""
        first = max(self.start, 0)
        put = [
            RankedMessage((index + 1) * RANK_GAP, messages[index])
            for index in range(first, self.stop)
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
            put_fading=self.fading,
            put_derivations=self.derivations,
            by=Actor.IMPORT,
        )

    @property
    def lines(self) -> int:
        """How many lines of the bundle it stores."""
        messages = self.stop - max(self.start, 0) if self.chat else 0
        return (
            messages
            + len(self.memories)
            + len(self.edges)
            + len(self.usages)
            + len(self.recalls)
            + len(self.opinions)
            + len(self.fading)
            + len(self.derivations)
        )


@dataclass(frozen=True, slots=True)
class BundlePlan:
    """The steps in order, and what is left out."""

    steps: Sequence[Step]
    existing: int  # memories of the bundle that are stored already
    foreign: int  # memories whose id another soul's memory has
    kept_chats: tuple[ChatId, ...]  # stored with other messages, left as they are


@compute_only
def plan_import(bundle: Bundle, stored: StoredState) -> BundlePlan:
    """The plan for a bundle of this soul."""
    return _Planner(bundle, stored).plan()


class _Planner:
    """Collects the steps of one import."""

    def __init__(self, bundle: Bundle, stored: StoredState) -> None:
        self._bundle = bundle
        self._stored = stored
        self._as_written = _keeps_derived(bundle, stored)
        self._steps: list[Step] = []
        self._placed: set[MemoryId] = set()  # memories that a step has
        self._wanted: dict[MemoryId, Memory] = {}

    def plan(self) -> BundlePlan:
        bundle, stored = self._bundle, self._stored
        new = bundle.memories.keys() - stored.memories
        foreign = new & stored.foreign
        for key, memory in bundle.memories.items():
            if key in new and key not in foreign and self._is_taken(memory):
                self._wanted[key] = memory
        if not stored.memories and bundle.soul is not None:
            self._steps.append(Step(soul=_soul(bundle.soul, stored.soul)))
        self._add_memories(is_chats=False)
        kept_chats = self._add_chats()
        # Of other chats, or of messages that are gone: in the bin, or repaired when the
        # soul is opened.
        self._add_memories(is_chats=True)
        _add_relations(self._steps, bundle, stored)
        if self._as_written:
            self._add_records()
        steps = [step for step in self._steps if step.lines or step.soul or step.chat]
        existing = len(bundle.memories) - len(new)
        return BundlePlan(steps, existing, len(foreign), tuple(kept_chats))

    def _is_taken(self, memory: Memory) -> bool:
        return self._as_written or memory.origin is Origin.USER

    def _add_memories(self, *, is_chats: bool) -> None:
        """Add the wanted memories that no step has yet: those of chats, or all others."""
        memories = [
            memory
            for key, memory in self._wanted.items()
            if (memory.origin is Origin.CHAT) == is_chats and key not in self._placed
        ]
        self._placed.update(memory.id for memory in memories)
        self._steps += [Step(memories=piece) for piece in _pieces(memories)]

    def _add_chats(self) -> list[ChatId]:
        """Add the chats with their memories; the ids of those that are left as they are."""
        kept = []
        for chat in self._bundle.chats.values():
            steps = self._chat_steps(chat)
            if steps is None:
                kept.append(chat.id)
            else:
                self._steps += steps
        return kept

    def _add_records(self) -> None:
        """Add the recalls and derivations that are not stored yet."""
        recalls = [
            record
            for trace, record in self._bundle.recalls.items()
            if trace not in self._stored.recalls
        ]
        if recalls:
            self._steps.append(Step(recalls=recalls))
        derivations = [
            derivation
            for key, derivation in self._bundle.derivations.items()
            if key not in self._stored.derivations
        ]
        if derivations:
            self._steps.append(Step(derivations=derivations))

    def _chat_steps(self, chat: Chat) -> list[Step] | None:
        """The steps of a chat with its episodes; None for one that is left as it is.

        The memory of a piece's last message goes to the next piece: it is settled when
        a message follows.
        """
        messages = self._bundle.messages[chat.id]
        stored_chat = self._stored.chats.get(chat.id)
        stored_messages = self._stored.messages.get(chat.id, ())
        start, drop = _missing_part(chat, messages, stored_chat, stored_messages)
        if start is None:
            return None
        memories = self._take_memories(chat, messages)
        if start == len(messages) and stored_chat is not None:
            return [Step(memories=piece) for piece in _pieces(_present(memories))]
        steps: list[Step] = []
        stop, from_memory = max(start, 0), max(start - 1, 0)
        while not steps or stop < len(messages):
            first = stop if steps else start
            stop = min(stop + _PIECE, len(messages))
            to_memory = stop if stop == len(messages) else stop - 1
            steps.append(
                Step(
                    chat=chat,
                    start=first,
                    stop=stop,
                    drop=() if steps else drop,
                    memories=_present(memories[from_memory:to_memory]),
                )
            )
            from_memory = to_memory
        return steps

    def _take_memories(self, chat: Chat, messages: Sequence[Message]) -> list[Memory | None]:
        """For each message the wanted memory that no step has yet; marks these as placed."""
        root = branch_root(chat.id, self._bundle.chats, self._stored.chats)
        memories: list[Memory | None] = []
        for message in stories_of(self._stored.soul, chat, messages):
            memory = self._wanted.get(episode_id(self._stored.soul.id, root, message))
            is_new = memory is not None and memory.id not in self._placed
            memories.append(memory if is_new else None)
            if memory is not None:
                self._placed.add(memory.id)
        return memories


def _present(memories: Iterable[Memory | None]) -> list[Memory]:
    return [memory for memory in memories if memory is not None]


def _pieces(items: Sequence[T]) -> Iterator[list[T]]:
    for start in range(0, len(items), _PIECE):
        yield list(items[start : start + _PIECE])


def _keeps_derived(bundle: Bundle, stored: StoredState) -> bool:
    """Whether memories of chats are taken as the bundle has them; else they are derived from the messages.

    True for a whole bundle, if nothing is stored but what this bundle, or an
    interrupted import of it, brought, and if names and settings lead to the same
    memories.
    """
    soul = bundle.soul
    if not bundle.whole or soul is None:
        return False
    if not stored.memories <= bundle.memories.keys():
        return False
    if not stored.memories:
        return True
    return soul.names == stored.soul.names and remembered_parts(soul) == remembered_parts(
        stored.soul
    )


def _soul(bundled: Soul, stored: Soul) -> Soul:
    """The stored soul, under its own name, with the known names and settings of the bundle."""
    return replace(stored, names=bundled.names, settings=bundled.settings)


def _missing_part(
    chat: Chat,
    messages: Sequence[Message],
    stored_chat: Chat | None,
    stored_messages: Sequence[Message],
) -> tuple[int | None, tuple[SlotId, ...]]:
    """The message from which on the chat is to be stored, and the stored messages to be removed.

    -1 for a chat that is new or comes out of the bin; None for one that is left as it is.
    """
    if stored_chat is None:
        return -1, ()
    if stored_chat.state is ChatState.BIN and chat.state is ChatState.ACTIVE:
        kept = {message.slot for message in messages}
        return -1, tuple(m.slot for m in stored_messages if m.slot not in kept)
    count = len(stored_messages)
    if list(stored_messages) == list(messages[:count]) and (
        stored_chat == chat or count == len(messages)
    ):
        return count, ()  # complete, or stored up to where an import was interrupted
    return None, ()


def _add_relations(steps: Sequence[Step], bundle: Bundle, stored: StoredState) -> None:
    """Add each new edge to the step that stores the later of its ends, and usages,
    opinions and fading to the step of their memory or edge.

    Edges between two memories that are stored already are left out: there the user
    decides.
    """
    step_of: dict[str, int] = {}
    for index, step in enumerate(steps):
        step_of.update((memory.id, index) for memory in step.memories)
    step_of_edge: dict[str, int] = {}
    for key, edge in bundle.edges.items():
        index = -1 if key in stored.edges else _step_of_edge(edge, step_of, stored)
        if index >= 0 and _is_legal(edge, bundle):
            steps[index].edges.append(edge)
            step_of_edge[key] = index
    # A relation is recalled by the id of its edge.
    step_of = step_of_edge | step_of
    _add_learned(steps, bundle, step_of)


def _add_learned(steps: Sequence[Step], bundle: Bundle, step_of: Mapping[str, int]) -> None:
    """Add usages, opinions and fading to the step of their memory or edge."""
    for memory, usage in bundle.usages.items():
        if memory in step_of:
            steps[step_of[memory]].usages.append(usage)
    for memory, opinion in bundle.opinions.items():
        if memory in step_of:
            steps[step_of[memory]].opinions.append(opinion)
    for memory, record in bundle.fading.items():
        if memory in step_of:
            steps[step_of[memory]].fading.append(record)


def _step_of_edge(edge: Edge, step_of: Mapping[str, int], stored: StoredState) -> int:
    """Index of the step after which both ends are stored.

    -1 if an end is missing or stored as forgotten, or both were stored.
    """
    last = -1
    for end in (edge.source, edge.target):
        if end in step_of:
            last = max(last, step_of[end])
        elif end not in stored.memories or end in stored.forgotten:
            return -1
    return last


def _is_legal(edge: Edge, bundle: Bundle) -> bool:
    """Whether the kinds of both ends, as the bundle has them, allow an edge of this kind."""
    source, target = bundle.memories.get(edge.source), bundle.memories.get(edge.target)
    if source is None or target is None or source is target:
        return False
    try:
        check_join(edge.kind, source.kind, target.kind)
    except Unprocessable:
        return False
    return True
