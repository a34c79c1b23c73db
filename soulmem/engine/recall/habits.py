"""The habits of a recall: actions that the moment sets off, and habits that the soul knows of itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np

from soulmem.conversation.episodes import spoken
from soulmem.domain.dialogue import Message
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, own_words, unanswered
from soulmem.engine.recall.habit_edges import (
    HabitEdges,
    are_current,
    collect_habit_edges,
)
from soulmem.engine.recall.situation_fit import SituationFit
from soulmem.engine.recall.who_is_met import Readings, readings
from soulmem.engine.vectors.encoder import EncodedTexts
from soulmem.engine.world.world import World
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.kernels.arrays import Bools, Float32s, Int64s
from soulmem.language.segmentation import thoughts
from soulmem.language.word_lists import alternatives, words
from soulmem.retrieval.action_selection import (
    ActionSelectionParams,
    Tendency,
    TriggerPath,
    draw_number,
    select_actions,
    situation_attention,
)

_LONGEST = 400  # characters; more is a story, not what somebody means to do
_MARKS = " \t*_~`\"'“”「」()（）[]【】"


@cache
def _labelled() -> re.Pattern[str]:
    """A line, or a bracket within one, that begins with a label: "*Thoughts: I will not tell.*" """
    labels = [
        *map(re.escape, words("en", "inner_thoughts", "labels")),
        *map(re.escape, words("zh", "inner_thoughts", "labels")),
    ]
    label = alternatives(sorted(labels, key=len, reverse=True))
    return re.compile(
        rf"(?:^|[(（\[【])[ \t*_~`\"“「]*(?:{label})[ \t*_~`\"”」]*[:：][ \t]*([^\n)）\]】]+)",
        re.IGNORECASE | re.MULTILINE,
    )


@cache
def _tagged() -> re.Pattern[str]:
    """A text between tags of thought."""
    tag = alternatives(words("en", "inner_thoughts", "tags"))
    return re.compile(rf"<({tag})>([^<>]+)</\1>", re.IGNORECASE)


def inner_thought(text: str) -> str | None:
    """The last inner thought of a reply, without its marks; None where it has none."""
    thoughts = [(match.start(), match[1]) for match in _labelled().finditer(text)]
    thoughts += [(match.start(), match[2]) for match in _tagged().finditer(text)]
    for _, thought in sorted(thoughts, reverse=True):
        bare = thought.strip().strip(_MARKS)
        if bare and len(bare) <= _LONGEST:
            return bare
    return None


_EPISODE = MEMORY_KINDS.index(MemoryKind.EPISODE)


@dataclass(frozen=True, slots=True)
class HabitParams:
    """How much of the moment is compared, and how many habits an answer may have."""

    firing: ActionSelectionParams = field(default_factory=ActionSelectionParams)
    sentences: int = 8  # compared one by one, a millisecond each
    instances: int = 64  # of the situations' instances, those nearest to the moment
    most_fired: int = 3  # the strongest; more at once is no character but a list
    most_known: int = 3
    # 0..1, strength of `knows_habit` times the name's share of the talk.
    known_from: float = 0.05


@dataclass(frozen=True, slots=True)
class HabitInput:
    """Cues of habits: sentences that the soul has not answered yet, and its intent."""

    sentences: tuple[str, ...]
    intent: str | None = None
    encoded: EncodedTexts | None = None  # vectors of these and of the situations
    about: Readings = field(default_factory=Readings)  # of those about somebody


@dataclass(frozen=True, slots=True)
class Habit:
    """An action for the answer: it fires, or the soul knows it of itself.

    share   0..1
    path     memories that led to it, and the edge of each step; never a trigger
    intent  what the soul means to do, where that and no situation set it off
    """

    action: MemoryId
    fired: bool
    share: float
    path: tuple[tuple[MemoryId, EdgeKind | None], ...]
    intent: str | None = None


@dataclass(frozen=True, slots=True)
class _Usable:
    """The edges to actions that this recall may use."""

    paths: list[TriggerPath]
    tendencies: dict[int, tuple[Tendency, ...]]
    situations: Int64s
    instances: Int64s
    scenes: dict[int, list[int]]


def habit_input_of(
    world: World, request: RecallRequest, messages: Sequence[Message], most: int
) -> HabitInput:
    """From the query of the request, or from those of the last messages that the soul has not answered.

    At most `most` sentences are compared one by one.
    """
    if request.type is RecallType.IMPERSONATE:
        return HabitInput(())  # the reply will be the player's own
    if request.query is not None:
        texts = [request.query.strip()]
    else:
        texts = [m.text.strip() for m in unanswered(world, request, messages)]
    texts = [text for text in texts if text]
    single = thoughts("\n".join(texts), most)
    intent = (request.intent or "").strip() or _last_thought(world, request, messages)
    return HabitInput(tuple(dict.fromkeys([*texts[-1:], *single])), intent)


class Habits:
    """Finds the habits of a recall. Compute thread only."""

    def __init__(self, params: HabitParams | None = None) -> None:
        self.params = params or HabitParams()
        self._fit = SituationFit(self.params.firing.taught_margin)
        self._edges: WeakKeyDictionary[Mind, HabitEdges] = WeakKeyDictionary()

    def read(
        self, mind: Mind, habit_input: HabitInput, query: Float32s | None
    ) -> tuple[HabitInput, list[str]]:
        """With the readings of what names the same people; and the texts whose vectors `of` needs.

        None for a soul without triggers. `query` are the vectors of the recall's query: of many instances of
        situations those nearest to it are compared.
        """
        edges, intent = self._edges_of(mind), habit_input.intent
        if not edges.tendencies or not (habit_input.sentences or intent):
            return habit_input, []
        rows = edges.situations.tolist()
        rows += self._nearest(mind, query, edges.instances).tolist()
        situations = [spoken(mind.memory_at(row)) for row in rows]
        about = Readings(readings(mind, habit_input.sentences, situations))
        rows = list(chain.from_iterable(edges.scenes.values()))
        texts = [*habit_input.sentences, *situations]
        texts += chain.from_iterable(about.texts.values())
        if intent:
            texts.append(intent)
            rows += edges.tendencies
        texts += (spoken(mind.memory_at(row)) for row in rows)
        return replace(habit_input, about=about), texts

    def of(self, mind: Mind, context: RecallContext, habit_input: HabitInput) -> list[Habit]:
        """The actions that fire, strongest first, then self-knowledge; no action twice."""
        edges = self._edges_of(mind)
        habits: list[Habit] = []
        if edges.tendencies:
            habits = self._fired(mind, context, habit_input, edges)
        if edges.habits:
            fired = {habit.action for habit in habits}
            for habit in self._self_known(mind, context, edges):
                if habit.action not in fired:
                    habits.append(habit)
        return habits

    def _fired(
        self,
        mind: Mind,
        context: RecallContext,
        habit_input: HabitInput,
        edges: HabitEdges,
    ) -> list[Habit]:
        p = self.params
        usable = _usable_edges(mind, context, habit_input, edges)
        present, triggered = self._attention(mind, habit_input, usable)
        draws = {
            trigger: draw_number(*_seed(context), mind.id_at(trigger))
            for trigger in usable.tendencies
        }
        impulses = select_actions(
            present, triggered, usable.paths, usable.tendencies, draws, p.firing
        )
        return [
            Habit(
                mind.id_at(impulse.action),
                True,
                impulse.share,
                _shown_path(mind, impulse.path),
                habit_input.intent if impulse.path is None else None,
            )
            for impulse in impulses[: p.most_fired]
        ]

    def _attention(
        self, mind: Mind, habit_input: HabitInput, usable: _Usable
    ) -> tuple[dict[int, float], dict[int, float]]:
        """The situation_attention of each situation, and of each trigger that the intent names; 0..1 by row."""
        firing, situations = self.params.firing, usable.situations
        present: dict[int, float] = {}
        triggered: dict[int, float] = {}
        rows = np.concatenate([situations, usable.instances])
        if habit_input.sentences and rows.size:
            fits = self._fits(mind, habit_input, rows, usable)
            shares = situation_attention(fits, firing).tolist()
            present = dict(zip(rows.tolist(), shares, strict=True))
        if habit_input.intent:
            triggers = [row for row, choice in usable.tendencies.items() if choice]
            rows = np.concatenate([situations, np.asarray(triggers, np.int64)])
            fits = self._fit.fit(
                mind,
                [habit_input.intent],
                rows,
                [spoken(mind.memory_at(row)) for row in rows.tolist()],
                encoded=habit_input.encoded,
                scenes=usable.scenes,
            )
            shares = situation_attention(fits, firing).tolist()
            for row, share in zip(situations.tolist(), shares, strict=False):
                present[row] = max(present.get(row, 0.0), share)
            triggered = dict(zip(triggers, shares[situations.size :], strict=True))
        return present, triggered

    def _fits(self, mind: Mind, habit_input: HabitInput, rows: Int64s, usable: _Usable) -> Float32s:
        """How well each sentence fits each situation, [sentences, rows]; NaN where it only talks of who is met.

        Where both name somebody, the mean over their readings.
        """
        lines, about = habit_input.sentences, habit_input.about
        situations = [spoken(mind.memory_at(row)) for row in rows.tolist()]
        fit = partial(self._fit.fit, mind, encoded=habit_input.encoded, scenes=usable.scenes)
        fits = fit(lines, rows, situations)
        for person, (own, others) in about.shared(lines, situations).items():
            read = [about.texts[lines[at], person] for at in own]
            met = [about.texts[situations[at], person] for at in others]
            each = [
                fit(some, rows[others], these)
                for some, these in zip(zip(*read, strict=True), zip(*met, strict=True), strict=True)
            ]
            fits[np.ix_(own, others)] = np.mean(each, axis=0)
        fits[about.only_talk(lines, situations)] = np.nan
        return fits

    def _nearest(self, mind: Mind, query: Float32s | None, rows: Int64s) -> Int64s:
        """The rows nearest to the query, all when they are few."""
        table, most = mind.vector_queue.text_vectors, self.params.instances
        if rows.size <= most:
            return rows
        if table is None or query is None or query.shape[1] != table.dim:
            return rows[-most:]
        cosines = (table.rows(rows) @ query.T).max(axis=1)
        return rows[np.argsort(-np.nan_to_num(cosines, nan=-1.0), kind="stable")[:most]]

    def _self_known(self, mind: Mind, context: RecallContext, edges: HabitEdges) -> list[Habit]:
        """Habits tied to named concepts: self-knowledge, never an order."""
        p = self.params
        best: dict[int, tuple[float, int]] = {}  # by action: value and concept
        for concept, share in _named_shares(mind, context).items():
            row = mind.row(concept)
            if row is None or not context.accessible[row]:
                continue
            for action, strength in edges.habits.get(row, ()):
                value = strength * share
                if value < p.known_from or not context.visible[action]:
                    continue
                if value > best.get(action, (0.0, 0))[0]:
                    best[action] = value, row
        ordered = sorted(best.items(), key=lambda pair: (-pair[1][0], pair[0]))
        return [
            Habit(mind.id_at(action), False, value, ((mind.id_at(concept), None),))
            for action, (value, concept) in ordered[: p.most_known]
        ]

    def _edges_of(self, mind: Mind) -> HabitEdges:
        edges, revision = self._edges.get(mind), mind.edges.revision
        if edges is None or not are_current(mind, edges):
            edges = collect_habit_edges(mind, self.params.firing)
        elif edges.revision != revision:
            edges = replace(edges, revision=revision)
        self._edges[mind] = edges
        return edges


def _usable_edges(
    mind: Mind, context: RecallContext, habit_input: HabitInput, edges: HabitEdges
) -> _Usable:
    """The edges between rows that this recall may use; of instances those whose vector is there."""
    usable = context.accessible.copy()
    # An episode that stands in the prompt still is no memory of the moment.
    episodes = mind.columns.kind[: mind.size] == _EPISODE
    usable[episodes] &= context.visible[episodes]
    paths = [path for path in edges.paths if _is_usable(path, usable)]
    seeds = {path.seed for path in paths}
    instances = []
    for row in edges.instances.tolist():
        if row in seeds and _has_vector(mind, row, habit_input.encoded):
            instances.append(row)
    scenes = {}
    for situation, lines in edges.scenes.items():
        scenes[situation] = [row for row in lines if usable[row]]
    situations = [row for row in edges.situations.tolist() if row in seeds]
    return _Usable(
        paths=paths,
        tendencies=_visible_tendencies(edges, usable, context.visible),
        situations=np.asarray(situations, np.int64),
        instances=np.asarray(instances, np.int64),
        scenes=scenes,
    )


def _visible_tendencies(
    edges: HabitEdges, usable: Bools, visible: Bools
) -> dict[int, tuple[Tendency, ...]]:
    """The actions of each usable trigger that the answer may show."""
    tendencies = {}
    for trigger, choice in edges.tendencies.items():
        if usable[trigger]:
            tendencies[trigger] = tuple(t for t in choice if visible[t.action])
    return tendencies


def _has_vector(mind: Mind, row: int, encoded: EncodedTexts | None) -> bool:
    return encoded is not None and spoken(mind.memory_at(row)) in encoded.vectors


def _is_usable(path: TriggerPath, usable: Bools) -> bool:
    if not usable[path.seed] or not usable[path.trigger]:
        return False
    return path.via is None or bool(usable[path.via])


def _named_shares(mind: Mind, context: RecallContext) -> dict[MemoryId, float]:
    """The concepts that the talk names, each with the largest share of a part that does, of the largest share."""
    parts = context.query.word_parts
    most = max((share for _, share in parts), default=1.0)
    shares: dict[MemoryId, float] = {}
    for text, share in parts:
        for concept in mind.names.spot(text):
            shares[concept] = max(shares.get(concept, 0.0), share / most)
    return shares


def _last_thought(world: World, request: RecallRequest, messages: Sequence[Message]) -> str | None:
    """The inner thought that the soul's last reply ends with, where its card writes one."""
    is_own = own_words(world, request)
    log = world.loaded_log(request.chat) if request.chat is not None else None
    for message in reversed(messages):
        if log is not None and is_own(message):  # a card may write it in a status block
            return inner_thought(log.messages[log.index[message.slot]].text)
    return None


def _seed(context: RecallContext) -> tuple[str, ...]:
    """The seed of a draw: the reply about to be written; without one, the words of the query."""
    request = context.request
    chat = request.chat or ""
    if request.slot is not None:
        return chat, request.slot, str(request.swipe or 0)
    return (chat, *(text for text, _ in context.query.word_parts))


def _shown_path(
    mind: Mind, path: TriggerPath | None
) -> tuple[tuple[MemoryId, EdgeKind | None], ...]:
    """The memories on the path, without the trigger, which only passes on."""
    if path is None:
        return ()
    seed = (mind.id_at(path.seed), None)
    if path.via is None:
        return (seed,)
    return seed, (mind.id_at(path.via), EdgeKind.INSTANCE_OF)
