"""Finds the habits of a chat: reactions that its drafts report in enough scenes, in whatever words.

A model reads some twenty messages at once and words freely what it sees: only all
drafts together show a habit. A habit stored here depends on all episodes that those
drafts read. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from soulmem.conversation.episodes import spoken
from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.drafts import DraftHabit
from soulmem.domain.edges import Edge, EdgeKind, edge_id
from soulmem.domain.ids import ChatId, MemoryId, SoulId, derived_id
from soulmem.domain.memories import MemoryKind, MemoryState, Origin
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.mind.visibility import opens_exchange
from soulmem.engine.propagation.draft_builder import DraftBuilder
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.vectors.encoder import EncodedTexts
from soulmem.graph.branches import Branch
from soulmem.kernels.arrays import Bools, Float32s
from soulmem.language.name_tokens import fold
from soulmem.language.segmentation import thoughts
from soulmem.ports.clock import Clock
from soulmem.prompts.grounding.passage_words import shares_words


@dataclass(frozen=True, slots=True)
class HabitParams:
    """When observations are a habit.

    Two wordings are one habit if situation and reaction mean the same. Measured with the packaged encoder on
    32 habits (en, zh) in two wordings each: the same reaction reaches 7.8 to 12, two different ones 7.5 at most
    and 5.9 in 95 of 100; the same situation 4.2 and more, two different ones 3.8 in 95 of 100.
    """

    scenes: int = 3  # least scenes that show it; design 5
    apart: int = 4  # least messages between two scenes of one chat
    # least deviations between two reactions, `Calibration.between`
    reaction: float = 7.0
    situation: float = 3.5  # the same between two situations
    # the same between a message and a reaction without shared words; others reach 1.5
    shown: float = 2.0
    # 0..1, share of common words that suffices instead, of each half
    words: float = 0.5
    # 0..1, least share of a group that a wording is similar to, to join it
    company: float = 0.5
    # factor of new scenes after which the evidence of a habit is gathered again
    growth: float = 2.0


def count_scenes(places: Collection[tuple[str, int]], params: HabitParams) -> int:
    """Number of scenes of these messages (chat, position); a run of messages is one scene."""
    count = 0
    last: tuple[str, int] | None = None
    for chat, place in sorted(places):
        if last is None or chat != last[0] or place - last[1] >= params.apart:
            count += 1
        last = chat, place
    return count


def word_overlap(wordings: Sequence[Collection[str]]) -> Float32s:
    """Jaccard index of the words of each two wordings, float32[n, n], 0..1."""
    vocabulary = sorted(set[str]().union(*wordings))
    column = {word: number for number, word in enumerate(vocabulary)}
    holds = np.zeros((len(wordings), len(column)), np.float32)
    for row, words in enumerate(wordings):
        for word in words:
            holds[row, column[word]] = 1.0
    common = holds @ holds.T
    sizes = holds.sum(axis=1)
    return np.asarray(common / np.maximum(sizes[:, None] + sizes - common, 1.0), np.float32)


def wording_groups(alike: Bools, params: HabitParams) -> list[list[int]]:
    """Wordings grouped by habit, as indices; `alike` is shape (n, n) and symmetric.

    In their order, each wording joins the group with the largest share of similar wordings, or starts a new
    one; so a chain of pairwise similar wordings does not join two habits.
    """
    out: list[list[int]] = []
    # number of wordings of a group (column) that are similar to each (row)
    like = np.zeros(alike.shape, np.float64)
    for wording in range(len(alike)):
        shares = like[wording, : len(out)] / [len(group) for group in out] if out else np.zeros(0)
        best = int(shares.argmax()) if shares.size and shares.max() >= params.company else len(out)
        if best == len(out):
            out.append([])
        out[best].append(wording)
        like[:, best] += alike[:, wording]
    return out


_SENTENCES = 8  # of a message, looked at one by one
_BEFORE = 2  # messages before a reaction that can have set it off
_MOST = 300  # reports looked at together, the newest: some 20 ms


@dataclass(frozen=True, slots=True)
class HabitReport:
    """A habit as one draft reports it."""

    derivation: Derivation
    habit: DraftHabit
    shown: tuple[MemoryId, ...]  # cited messages that share words with the action
    unclear: tuple[tuple[MemoryId, tuple[str, ...]], ...]  # others, with sentences


@compute_only
def habit_reports(mind: Mind, chat: ChatId) -> list[HabitReport]:
    """The habits that the drafts of a chat report, in the order of its messages; the newest `_MOST`."""
    branch = mind.branches.branch(chat)
    order = branch.order if branch is not None else ()
    positions = {key: index for index, key in enumerate(order)}
    derivations = [d for d in mind.derivations.of_chat(chat) if d.drafts.habits]
    derivations.sort(key=lambda d: (positions.get(d.read[0], 0), d.id))
    drafts = []
    for derivation in derivations:
        for habit in derivation.drafts.habits:
            drafts.append((derivation, habit))
    return [_report(mind, derivation, habit) for derivation, habit in drafts[-_MOST:]]


def _report(mind: Mind, derivation: Derivation, habit: DraftHabit) -> HabitReport:
    read = derivation.read
    shown, unclear = [], []
    for number in habit.lines:
        if not 0 < number <= len(read):
            continue
        key = read[number - 1]
        text = spoken(mind.memories[key])
        if _shares_words(text, habit.action):
            shown.append(key)
        else:
            unclear.append((key, tuple(thoughts(text, _SENTENCES))))
    return HabitReport(derivation, habit, tuple(shown), tuple(unclear))


@lru_cache(2 * _MOST)
def _shares_words(text: str, action: str) -> bool:
    """Whether the text has a word of the action."""
    return shares_words(text, action)


def texts_to_compare(reports: Iterable[HabitReport]) -> list[str]:
    """All texts whose vectors `habit_change` compares, each once."""
    texts: dict[str, None] = {}
    for report in reports:
        texts[report.habit.when] = texts[report.habit.action] = None
        for _, unclear in report.unclear:
            texts.update(dict.fromkeys(unclear))
    return list(texts)


@compute_only
def habit_change(
    mind: Mind,
    chat: ChatId,
    encoded: EncodedTexts | None,
    clock: Clock,
    params: HabitParams | None = None,
) -> MindChange:
    """Stores the habits of a chat that enough scenes support, as far as they are not there yet.

    encoded  vectors of `texts_to_compare`; None compares wordings by their words
    """
    p = params or HabitParams()
    branch = mind.branches.branch(chat)
    reports = habit_reports(mind, chat)
    if branch is None or not reports:
        return MindChange()
    evidence = [_evidence(report, encoded, p) for report in reports]
    builder = DraftBuilder(mind, clock.now(), mind.lived_turns(clock.extra_turns))
    converter = _HabitConverter(mind, branch, builder, p)
    for group in wording_groups(_same_habit(mind, reports, encoded, p), p):
        shown: list[MemoryId] = []
        for index in group:
            shown += evidence[index]
        converter.add([reports[index] for index in group], shown)
    return converter.change()


class _HabitConverter:
    """Converts groups of reports into the habits of one chat."""

    def __init__(
        self, mind: Mind, branch: Branch, builder: DraftBuilder, params: HabitParams
    ) -> None:
        self._mind = mind
        self._soul = mind.soul.id
        self._branch = branch
        self._positions = {key: index for index, key in enumerate(branch.order)}
        self._builder = builder
        self._derivations: list[Derivation] = []
        self._chances: dict[str, float] = {}  # mean of the reports, by edge
        self._params = params

    def change(self) -> MindChange:
        """Everything added so far."""
        edges = self._builder.edges
        for trigger in dict.fromkeys(e.source for e in edges.values() if e.kind is EdgeKind.FIRES):
            self._share_probability(trigger)
        return MindChange(
            put_memories=tuple(self._builder.memories.values()),
            put_edges=tuple(edges.values()),
            put_derivations=tuple(self._derivations),
        )

    def add(self, group: Sequence[HabitReport], shown: Iterable[MemoryId]) -> None:
        """Add a habit in all its wordings, unless it has too few scenes or is not wanted.

        An existing one is left as it is until it has `params.growth` times as many
        scenes.

        shown  the messages that the reaction shows in
        """
        cited = tuple(key for key in dict.fromkeys(shown) if key in self._positions)
        count = self._scenes(cited)
        if count < self._params.scenes:
            return
        existing = self._existing(group)
        habit = existing[0][0] if existing else group[0].habit
        chances = [report.habit.probability for report in group]
        self._chances[self._fires(habit)] = sum(chances) / len(group)
        before = max((self._scenes(evidence) for _, evidence in existing), default=0)
        if count >= self._params.growth * before and not self._is_unwanted(habit):
            self._put(habit, group, cited)

    def _existing(
        self, group: Sequence[HabitReport]
    ) -> list[tuple[DraftHabit, tuple[MemoryId, ...]]]:
        """The wordings of the group that are stored for this chat, with their evidence."""
        derivations = self._mind.derivations.of_chat(self._branch.chat)
        existing = []
        for report in group:
            wanted = self._fires(report.habit)
            for derivation in derivations:
                for product in derivation.products:
                    if product.id == wanted:
                        cited = product.cited or derivation.read
                        existing.append((report.habit, cited))
        return existing

    def _fires(self, habit: DraftHabit) -> str:
        """Id of the edge that stands for the habit: from the trigger of its situation to its action."""
        return edge_id(EdgeKind.FIRES, _trigger(self._soul, habit), _action(self._soul, habit))

    def _is_unwanted(self, habit: DraftHabit) -> bool:
        """Whether any part is in the bin: the user put it there, or undid the job that made it."""
        for part in (_situation, _trigger, _action):
            memory = self._mind.memories.get(part(self._soul, habit))
            if memory is not None and memory.state is MemoryState.BIN:
                return True
        return False

    def _put(
        self,
        habit: DraftHabit,
        group: Sequence[HabitReport],
        cited: tuple[MemoryId, ...],
    ) -> None:
        """Add situation, trigger and action with their edges, and the derivation."""
        soul, builder = self._soul, self._builder
        read_once: dict[MemoryId, None] = {}
        for report in group:
            read_once.update(dict.fromkeys(report.derivation.read))
        read = tuple(read_once)
        builder.cited = {}
        importance = max(report.habit.importance for report in group)
        situation = _situation(soul, habit)
        trigger = _trigger(soul, habit)
        action = _action(soul, habit)
        for key, kind, text in (
            (situation, MemoryKind.ABSTRACT_EPISODE, habit.when),
            (trigger, MemoryKind.TRIGGER, habit.when),
            (action, MemoryKind.ACTION, habit.action),
        ):
            builder.put(builder.new_memory(key, kind, text, importance), cited)
        for instance, reaction in self._instances(cited, frozenset(read)):
            builder.edge(EdgeKind.INSTANCE_OF, instance, situation, reaction, 1.0)
        builder.edge(EdgeKind.TRIGGERS, situation, trigger, cited, 1.0)
        builder.edge(EdgeKind.FIRES, trigger, action, cited, 1.0, probability=1.0)
        self._derivations.append(
            Derivation(
                id=derived_id("v", soul, "habit", habit.when, habit.action, *read),
                soul=soul,
                work=Work.HABIT,
                chat=self._branch.chat,
                read=read,
                made=builder.current_time,
                products=builder.products(),
                model=group[-1].derivation.model,
            )
        )

    def _instances(
        self, cited: Iterable[MemoryId], read: frozenset[MemoryId]
    ) -> list[tuple[MemoryId, tuple[MemoryId, ...]]]:
        """Instances of the situation, each with its evidence.

        An instance is a message of the other side right before the reaction: the
        situation shows there. It is the reaction itself if there is none.
        """
        instances: list[tuple[MemoryId, tuple[MemoryId, ...]]] = []
        for key in cited:
            if opens_exchange(self._mind.memories[key]):
                instances.append((key, (key,)))
                continue
            before = self._exchange_before(self._positions[key], read)
            for earlier in before:
                instances.append((earlier, (earlier, key)))
            if not before:
                instances.append((key, (key,)))
        return instances

    def _exchange_before(self, position: int, read: frozenset[MemoryId]) -> list[MemoryId]:
        """The messages of the other side right before a position, latest first, as far as they were read."""
        before = []
        earlier_keys = self._branch.order[max(0, position - _BEFORE) : position]
        for earlier in reversed(earlier_keys):
            memory = self._mind.memories[earlier] if earlier in read else None
            if memory is None or not opens_exchange(memory):
                break
            before.append(earlier)
        return before

    def _share_probability(self, trigger: MemoryId) -> None:
        """Give the drafted actions of a trigger what those set by the user leave of a probability of 1."""
        edges = self._firing(trigger)
        drafted = [e for e in edges if e.origin is Origin.MODEL]
        by_hand = sum(e.probability or 0.0 for e in edges if e.origin is not Origin.MODEL)
        chances = [self._chances.get(e.id, e.probability or 0.0) for e in drafted]
        room, total = max(0.0, 1.0 - by_hand), sum(chances)
        for edge, chance in zip(drafted, chances, strict=True):
            share = chance / total if total else 1 / len(drafted)
            self._builder.edges[edge.id] = replace(edge, probability=room * share)

    def _firing(self, trigger: MemoryId) -> list[Edge]:
        """The edges from a trigger to its actions, with those added here."""
        edges = {e.id: e for e in self._mind.edges.of(trigger)} | self._builder.edges
        return [e for e in edges.values() if e.kind is EdgeKind.FIRES and e.source == trigger]

    def _scenes(self, cited: Iterable[MemoryId]) -> int:
        chat = self._branch.chat
        places = [(chat, self._positions[key]) for key in cited if key in self._positions]
        return count_scenes(places, self._params)


def _same_habit(
    mind: Mind,
    reports: Sequence[HabitReport],
    encoded: EncodedTexts | None,
    params: HabitParams,
) -> Bools:
    """Which of the reports mean the same habit, shape (n, n)."""
    situations = [report.habit.when for report in reports]
    actions = [report.habit.action for report in reports]
    if encoded is not None:
        between = encoded.calibration.between
        same = between(encoded.rows(situations)) >= params.situation
        return np.asarray(same & (between(encoded.rows(actions)) >= params.reaction))
    tokens = mind.tokeniser.tokens
    by_situation = word_overlap([tokens(text) for text in situations])
    by_action = word_overlap([tokens(text) for text in actions])
    return np.asarray(np.minimum(by_situation, by_action) >= params.words)


def _evidence(
    report: HabitReport, encoded: EncodedTexts | None, params: HabitParams
) -> list[MemoryId]:
    """The messages in which the reaction shows, by its words or by meaning.

    Without vectors all cited messages count if none shares words with it.
    """
    if encoded is None:
        return list(report.shown) or [key for key, _ in report.unclear]
    action = encoded.rows([report.habit.action])
    shown = list(report.shown)
    for key, texts in report.unclear:
        if not texts:
            continue
        fit = encoded.calibration.fit(encoded.rows(texts), action)
        if fit.max() >= params.shown:
            shown.append(key)
    return shown


def _situation(soul: SoulId, habit: DraftHabit) -> MemoryId:
    return MemoryId(derived_id("d", soul, "abstract", fold(habit.when) or habit.when))


def _trigger(soul: SoulId, habit: DraftHabit) -> MemoryId:
    return MemoryId(derived_id("d", soul, "trigger", _situation(soul, habit)))


def _action(soul: SoulId, habit: DraftHabit) -> MemoryId:
    return MemoryId(derived_id("d", soul, "action", fold(habit.action) or habit.action))
