"""Which habits does a chat show? Those that its drafts tell of three scenes, in whatever words they do.

A model reads some twenty messages at once and words what it sees as it likes: only all drafts together can
tell a habit. What is told here stands by all that those drafts read. Everything here computes: worker only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from soulmem.consolidation.habits import HabitParams, groups, scenes, shared
from soulmem.conversation.episodes import spoken
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.drafts import DraftHabit
from soulmem.domain.edges import EdgeKind, edge_id
from soulmem.domain.ids import ChatId, MemoryId, SoulId, derived_id
from soulmem.domain.memories import MemoryKind, MemoryState, Origin
from soulmem.engine.consolidation.draft_builder import DraftBuilder
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.visibility import opens_exchange
from soulmem.engine.vectors.encoder import Read
from soulmem.graph.lineage import Strand
from soulmem.graph.names import fold
from soulmem.language.segmentation import sentences
from soulmem.ports.clock import Clock
from soulmem.prompts.grounding.passage_words import units

Bools = NDArray[np.bool_]

_THOUGHTS = 8  # sentences of a message looked at one by one
_BEFORE = 2  # messages before a reaction that can have set it off
_MOST = 300  # drafts looked at together, the newest: some 20 ms


@dataclass(frozen=True, slots=True)
class Seen:
    """A habit as one draft tells it."""

    one: Derivation
    habit: DraftHabit
    shown: tuple[MemoryId, ...]  # messages with words of the reaction
    open: tuple[
        tuple[MemoryId, tuple[str, ...]], ...
    ]  # the other cited ones, sentence by sentence


def seen_in(mind: Mind, chat: ChatId) -> list[Seen]:
    """The habits that the drafts of a chat tell of, in the order of its messages."""
    strand = mind.lineages.strand(chat)
    place = (
        {key: at for at, key in enumerate(strand.order)} if strand is not None else {}
    )
    drafts = [one for one in mind.derived.held(chat) if one.drafts.habits]
    drafts.sort(key=lambda one: (place.get(one.read[0], 0), one.id))
    told = [(one, habit) for one in drafts for habit in one.drafts.habits]
    return [_read(mind, one, habit) for one, habit in told[-_MOST:]]


def _read(mind: Mind, one: Derivation, habit: DraftHabit) -> Seen:
    cited = [one.read[n - 1] for n in habit.lines if 0 < n <= len(one.read)]
    said = {key: spoken(mind.memories[key]) for key in cited}
    shown = tuple(key for key in cited if _shares(said[key], habit.action))
    rest = [
        (key, tuple(sentences(said[key], _THOUGHTS)))
        for key in cited
        if key not in shown
    ]
    return Seen(one, habit, shown, tuple(rest))


@lru_cache(2 * _MOST)
def _shares(text: str, action: str) -> bool:
    """Whether the text has a word of the action."""
    return not set(units(text)).isdisjoint(units(action))


def wordings(seen: Iterable[Seen]) -> list[str]:
    """What has to be read to tell which of these are one habit, and whether it shows where they say so."""
    out: dict[str, None] = {}
    for one in seen:
        out.update(dict.fromkeys((one.habit.when, one.habit.action)))
        out.update((text, None) for _, texts in one.open for text in texts)
    return list(out)


def formed(
    mind: Mind,
    chat: ChatId,
    read: Read | None,
    clock: Clock,
    params: HabitParams | None = None,
) -> MindChange:
    """The habits of a chat that enough scenes support and that are not there yet.

    read  vectors of the `wordings`; without, words alone tell which are alike
    """
    p = params or HabitParams()
    strand = mind.lineages.strand(chat)
    seen = seen_in(mind, chat)
    if strand is None or not seen:
        return MindChange()
    shown = [_shown(one, read, p) for one in seen]
    forming = _Forming(
        mind, strand, DraftBuilder(mind, clock.now(), mind.turns(clock.extra_turns)), p
    )
    for group in groups(_alike(mind, seen, read, p), p):
        forming.take(
            [seen[at] for at in group], [key for at in group for key in shown[at]]
        )
    return forming.change()


class _Forming:
    """The habits of one chat in the making."""

    def __init__(
        self, mind: Mind, strand: Strand, made: DraftBuilder, params: HabitParams
    ) -> None:
        self._mind = mind
        self._soul = mind.soul.id
        self._strand = strand
        self._place = {key: at for at, key in enumerate(strand.order)}
        self._made = made
        self._derivations: list[Derivation] = []
        self._chances: dict[str, float] = {}  # what the drafts say, by edge
        self._params = params

    def change(self) -> MindChange:
        """All that was taken."""
        for trigger in dict.fromkeys(
            e.source for e in self._made.edges.values() if e.kind is EdgeKind.FIRES
        ):
            self._share_out(trigger)
        return MindChange(
            put_memories=tuple(self._made.memories.values()),
            put_edges=tuple(self._made.edges.values()),
            put_derivations=tuple(self._derivations),
        )

    def take(self, group: Sequence[Seen], shown: Iterable[MemoryId]) -> None:
        """One habit in all its wordings, unless it is known, has too few scenes, or is not wanted.

        shown  the messages that it shows in
        """
        cited = tuple(key for key in dict.fromkeys(shown) if key in self._place)
        count = self._scenes(cited)
        if count < self._params.scenes:
            return
        known = self._known(group)
        habit = known[0][0] if known else group[0].habit
        self._chances[self._fires(habit)] = sum(
            seen.habit.probability for seen in group
        ) / len(group)
        told = max((self._scenes(cited) for _, cited in known), default=0)
        if count >= self._params.growth * told and not self._is_unwanted(habit):
            self._habit(habit, group, cited)

    def _known(
        self, group: Sequence[Seen]
    ) -> list[tuple[DraftHabit, tuple[MemoryId, ...]]]:
        """The wordings of the group that are memories of this chat, with the episodes that speak for them."""
        held = [
            one for one in self._mind.derived.held(self._strand.chat) if one.products
        ]
        out = []
        for seen in group:
            wanted = self._fires(seen.habit)
            for one in held:
                out += [
                    (seen.habit, made.cited or one.read)
                    for made in one.products
                    if made.id == wanted
                ]
        return out

    def _fires(self, habit: DraftHabit) -> str:
        """The edge that stands for the habit: from the trigger of its situation to its action."""
        return edge_id(
            EdgeKind.FIRES, _trigger(self._soul, habit), _action(self._soul, habit)
        )

    def _is_unwanted(self, habit: DraftHabit) -> bool:
        """Whether the user put it into the bin, or took the job back that made it."""
        keys = (
            _situation(self._soul, habit),
            _trigger(self._soul, habit),
            _action(self._soul, habit),
        )
        found = (self._mind.memories.get(key) for key in keys)
        return any(one is not None and one.state is MemoryState.BIN for one in found)

    def _habit(
        self, habit: DraftHabit, group: Sequence[Seen], cited: tuple[MemoryId, ...]
    ) -> None:
        soul, made = self._soul, self._made
        whole = tuple(dict.fromkeys(key for seen in group for key in seen.one.read))
        made.cited = {}
        worth = max(seen.habit.importance for seen in group)
        situation, trigger, action = (
            _situation(soul, habit),
            _trigger(soul, habit),
            _action(soul, habit),
        )
        made.put(
            made.plainly(situation, MemoryKind.ABSTRACT_EPISODE, habit.when, worth),
            cited,
        )
        made.put(made.plainly(trigger, MemoryKind.TRIGGER, habit.when, worth), cited)
        made.put(made.plainly(action, MemoryKind.ACTION, habit.action, worth), cited)
        for instance, reaction in self._instances(cited, frozenset(whole)):
            made.edge(EdgeKind.INSTANCE_OF, instance, situation, reaction, 1.0)
        made.edge(EdgeKind.TRIGGERS, situation, trigger, cited, 1.0)
        made.edge(EdgeKind.FIRES, trigger, action, cited, 1.0, probability=1.0)
        self._derivations.append(
            Derivation(
                id=derived_id("v", soul, "habit", habit.when, habit.action, *whole),
                soul=soul,
                work=Work.HABIT,
                chat=self._strand.chat,
                read=whole,
                made=made.now,
                products=made.products(),
                model=group[-1].one.model,
            )
        )

    def _instances(
        self, cited: Iterable[MemoryId], read: frozenset[MemoryId]
    ) -> list[tuple[MemoryId, tuple[MemoryId, ...]]]:
        """What was said before each reaction, with that reaction: the situation is there, not in what she
        did. The reaction itself where nothing is.
        """
        order = self._strand.order
        out: list[tuple[MemoryId, tuple[MemoryId, ...]]] = []
        for key in cited:
            at = self._place[key]
            if opens_exchange(self._mind.memories[key]):
                out.append((key, (key,)))
                continue
            before = []
            for earlier in reversed(order[max(0, at - _BEFORE) : at]):
                if earlier not in read or not opens_exchange(
                    self._mind.memories[earlier]
                ):
                    break
                before.append(earlier)
            out += [(one, (one, key)) for one in before] or [(key, (key,))]
        return out

    def _share_out(self, trigger: MemoryId) -> None:
        """What a trigger sets off has a probability of 1 together, what is made by hand first."""
        made = self._made.edges
        known = {e.id: e for e in self._mind.edges.of(trigger)} | made
        edges = [
            e
            for e in known.values()
            if e.kind is EdgeKind.FIRES and e.source == trigger
        ]
        by_hand = sum(
            e.probability or 0.0 for e in edges if e.origin is not Origin.MODEL
        )
        ours = [e for e in edges if e.origin is Origin.MODEL]
        chances = [self._chances.get(e.id, e.probability or 0.0) for e in ours]
        room, total = max(0.0, 1.0 - by_hand), sum(chances)
        for edge, chance in zip(ours, chances, strict=True):
            made[edge.id] = replace(
                edge, probability=room * (chance / total if total else 1 / len(ours))
            )

    def _scenes(self, cited: Iterable[MemoryId]) -> int:
        chat = self._strand.chat
        return scenes(
            [(chat, self._place[key]) for key in cited if key in self._place],
            self._params,
        )


def _alike(
    mind: Mind, seen: Sequence[Seen], read: Read | None, params: HabitParams
) -> Bools:
    """Which of the wordings tell of one habit, shape (n, n)."""
    when, does = [one.habit.when for one in seen], [one.habit.action for one in seen]
    if read is not None:
        between = read.calibration.between
        same = between(read.rows(when)) >= params.situation
        return np.asarray(same & (between(read.rows(does)) >= params.reaction))
    tokens = mind.tokeniser.tokens
    halves = [shared([tokens(text) for text in half]) for half in (when, does)]
    return np.asarray(np.minimum(*halves) >= params.words)


def _shown(seen: Seen, read: Read | None, params: HabitParams) -> list[MemoryId]:
    """The messages in which the reaction shows: those with words of it, and those that mean it. Where
    meaning cannot be told, what a draft cites is taken if no message has words of it.
    """
    if read is None:
        return list(seen.shown) or [key for key, _ in seen.open]
    action = read.rows([seen.habit.action])
    fits = (
        (key, read.calibration.fit(read.rows(texts), action))
        for key, texts in seen.open
        if texts
    )
    return [*seen.shown, *(key for key, fit in fits if fit.max() >= params.shown)]


def _situation(soul: SoulId, habit: DraftHabit) -> MemoryId:
    return MemoryId(derived_id("d", soul, "abstract", fold(habit.when) or habit.when))


def _trigger(soul: SoulId, habit: DraftHabit) -> MemoryId:
    return MemoryId(derived_id("d", soul, "trigger", _situation(soul, habit)))


def _action(soul: SoulId, habit: DraftHabit) -> MemoryId:
    return MemoryId(derived_id("d", soul, "action", fold(habit.action) or habit.action))
