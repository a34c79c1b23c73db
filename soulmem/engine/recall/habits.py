"""What sets a soul's habits off now, and which habits of its own does the talk remind it of?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.episodes import spoken
from soulmem.domain.dialogue import Message, Role
from soulmem.domain.edges import EdgeKind
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.habit_edges import Reflexes, reflexes_of
from soulmem.engine.recall.scene import Scene, last_messages
from soulmem.engine.recall.situation_fit import Likeness
from soulmem.engine.vectors.encoder import Read
from soulmem.engine.world.world import World
from soulmem.graph.association import MEMORY_KINDS
from soulmem.language.segmentation import sentences
from soulmem.retrieval.action_selection import (
    ActionSelectionParams,
    TriggerPath,
    draw_number,
    select_actions,
    situation_attention,
)

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HabitParams:
    """How much of the moment is looked at, and how many habits an answer may hold."""

    firing: ActionSelectionParams = field(default_factory=ActionSelectionParams)
    thoughts: int = 8  # sentences looked at one by one, a millisecond each
    instances: int = 64  # of the situations' instances, those nearest to the moment
    most_fired: int = 3  # the strongest; more at once is no character but a list
    most_known: int = 3
    known_from: float = (
        0.05  # 0..1, strength of `knows_habit` times the name's share of the talk
    )


@dataclass(frozen=True, slots=True)
class Moment:
    """What the soul has not answered yet, thought by thought, and what it means to do."""

    thoughts: tuple[str, ...]
    intent: str | None = None
    read: Read | None = None


@dataclass(frozen=True, slots=True)
class Habit:
    """An action that goes into the answer: it fires, or the soul knows it of itself."""

    action: MemoryId
    fired: bool
    share: float  # 0..1
    way: tuple[tuple[MemoryId, EdgeKind | None], ...]  # what led there; never a trigger
    intent: str | None = (
        None  # what the soul means to do, where that and no situation fired it
    )


def moment_of(world: World, request: RecallRequest, most: int) -> Moment:
    """The query, or what was said in the chat since the soul itself last spoke."""
    if request.type is RecallType.IMPERSONATE:
        return Moment(())  # the reply will be the player's own
    if request.query is not None:
        texts = [request.query.strip()]
    else:
        texts = [m.text.strip() for m in _unanswered(world, request)]
    whole = [text for text in texts if text]
    single = sentences("\n".join(whole), most)
    return Moment(
        tuple(dict.fromkeys([*whole[-1:], *single])),
        (request.intent or "").strip() or None,
    )


class Habits:
    """Finds the habits a moment calls for. Compute thread only."""

    def __init__(self, params: HabitParams | None = None) -> None:
        self.params = params or HabitParams()
        self._likeness = Likeness(self.params.firing.taught_margin)
        self._known: WeakKeyDictionary[Mind, Reflexes] = WeakKeyDictionary()

    def texts(self, mind: Mind, moment: Moment, asked: Floats | None) -> list[str]:
        """What has to be read to tell what the moment sets off; nothing for a soul without triggers.

        `asked` are the vectors of the question by the model of recall: of many instances of situations, they
        tell which are near enough to be looked at.
        """
        reflexes = self._reflexes(mind)
        if not reflexes.tendencies or not (moment.thoughts or moment.intent):
            return []
        rows = [
            *reflexes.situations.tolist(),
            *self._nearest(mind, asked, reflexes.instances).tolist(),
        ]
        rows += [row for scenes in reflexes.scenes.values() for row in scenes]
        rows += reflexes.tendencies if moment.intent else []
        intent = [moment.intent] if moment.intent else []
        return [*moment.thoughts, *intent, *(spoken(mind.at(row)) for row in rows)]

    def of(self, mind: Mind, scene: Scene, known: Bools, moment: Moment) -> list[Habit]:
        """What fires, strongest first, then what the soul knows of itself; no action twice.

        `known` tells for each row whether this recall may use it; what is told must be in `scene.visible`.
        """
        reflexes = self._reflexes(mind)
        out = (
            self._fired(mind, scene, known, moment, reflexes)
            if reflexes.tendencies
            else []
        )
        if reflexes.habits:
            told = {habit.action for habit in out}
            out += [
                h
                for h in self._named(mind, scene, known, reflexes)
                if h.action not in told
            ]
        return out

    def _fired(
        self, mind: Mind, scene: Scene, known: Bools, moment: Moment, reflexes: Reflexes
    ) -> list[Habit]:
        p = self.params
        usable = known.copy()
        episodes = mind.columns.kind[: mind.size] == MEMORY_KINDS.index(
            MemoryKind.EPISODE
        )
        usable[episodes] &= scene.visible[
            episodes
        ]  # what is still in the prompt is no memory of the moment
        ways = [
            way
            for way in reflexes.ways
            if usable[way.seed]
            and usable[way.trigger]
            and (way.via is None or usable[way.via])
        ]
        tendencies = {
            trigger: tuple(t for t in choice if scene.visible[t.action])
            for trigger, choice in reflexes.tendencies.items()
            if usable[trigger]
        }
        seeds = {way.seed for way in ways}
        situations = np.asarray(
            [row for row in reflexes.situations if row in seeds], np.int64
        )
        read = moment.read.vectors if moment.read else {}
        instances = np.asarray(
            [
                row
                for row in reflexes.instances.tolist()
                if row in seeds and spoken(mind.at(row)) in read
            ],
            np.int64,
        )
        rows = np.concatenate([situations, instances])
        scenes = {
            row: [one for one in seen if usable[one]]
            for row, seen in reflexes.scenes.items()
        }
        present: dict[int, float] = {}
        meant: dict[int, float] = {}
        if moment.thoughts and rows.size:
            fits = self._likeness.fit(mind, moment.thoughts, rows, moment.read, scenes)
            present = dict(
                zip(
                    rows.tolist(),
                    situation_attention(fits, p.firing).tolist(),
                    strict=True,
                )
            )
        if moment.intent:
            named = np.asarray(
                [t for t, choice in tendencies.items() if choice], np.int64
            )
            rows = np.concatenate([situations, named])
            fits = self._likeness.fit(mind, [moment.intent], rows, moment.read, scenes)
            shares = situation_attention(fits, p.firing).tolist()
            for row, share in zip(situations.tolist(), shares, strict=False):
                present[row] = max(present.get(row, 0.0), share)
            meant = dict(zip(named.tolist(), shares[situations.size :], strict=True))
        draws = {t: draw_number(*_seed(scene), mind.at(t).id) for t in tendencies}
        impulses = select_actions(present, meant, ways, tendencies, draws, p.firing)[
            : p.most_fired
        ]
        return [
            Habit(
                mind.at(impulse.action).id,
                True,
                impulse.share,
                _told_way(mind, impulse.path),
                moment.intent if impulse.path is None else None,
            )
            for impulse in impulses
        ]

    def _nearest(self, mind: Mind, asked: Floats | None, rows: Ints) -> Ints:
        """The rows nearest to what is asked, all when they are few."""
        table, most = mind.embedded.turns, self.params.instances
        if rows.size <= most:
            return rows
        if table is None or asked is None or asked.shape[1] != table.dim:
            return rows[-most:]
        cosines = (table.rows(rows) @ asked.T).max(axis=1)
        return rows[np.argsort(-np.nan_to_num(cosines, nan=-1.0), kind="stable")[:most]]

    def _named(
        self, mind: Mind, scene: Scene, known: Bools, reflexes: Reflexes
    ) -> list[Habit]:
        """Habits that belong to what is named in the talk: self-knowledge, never an order."""
        p = self.params
        most = max((share for _, share in scene.cue.said), default=1.0)
        shares: dict[MemoryId, float] = {}
        for text, share in scene.cue.said:
            for concept in mind.names.spot(text):
                shares[concept] = max(shares.get(concept, 0.0), share / most)
        found: dict[int, tuple[float, int]] = {}
        for concept, share in shares.items():
            row = mind.row(concept)
            if row is None or not known[row]:
                continue
            for action, strength in reflexes.habits.get(row, ()):
                value = strength * share
                if (
                    value >= p.known_from
                    and scene.visible[action]
                    and value > found.get(action, (0.0, 0))[0]
                ):
                    found[action] = value, row
        best = sorted(found.items(), key=lambda pair: (-pair[1][0], pair[0]))[
            : p.most_known
        ]
        return [
            Habit(mind.at(action).id, False, value, ((mind.at(concept).id, None),))
            for action, (value, concept) in best
        ]

    def _reflexes(self, mind: Mind) -> Reflexes:
        found = self._known.get(mind)
        if found is None or found.revision != mind.edges.revision:
            found = self._known[mind] = reflexes_of(mind, self.params.firing)
        return found


def _unanswered(world: World, request: RecallRequest) -> Sequence[Message]:
    """The messages since the soul's own last words."""
    messages = last_messages(world, request)
    log = world.loaded_log(request.chat) if request.chat is not None else None
    alone = log is not None and len(log.head.souls) == 1
    name = world.soul(request.soul).name

    def is_own(message: Message) -> bool:
        return message.role is Role.CHARACTER and (
            alone or message.speaker in (name, "")
        )

    stop = len(messages)
    while stop and is_own(messages[stop - 1]):  # a reply that is being continued
        stop -= 1
    start = stop
    while start and not is_own(messages[start - 1]):
        start -= 1
    return messages[start:stop]


def _seed(scene: Scene) -> tuple[str, ...]:
    """What a draw depends on: the reply about to be written; without one, the words that ask for it."""
    request = scene.request
    chat = request.chat or ""
    if request.slot is not None:
        return chat, request.slot, str(request.swipe or 0)
    return (chat, *(text for text, _ in scene.cue.said))


def _told_way(
    mind: Mind, way: TriggerPath | None
) -> tuple[tuple[MemoryId, EdgeKind | None], ...]:
    """The memories on the way, without the trigger: that one only passes on."""
    if way is None:
        return ()
    seed = (mind.at(way.seed).id, None)
    return (
        (seed,)
        if way.via is None
        else (seed, (mind.at(way.via).id, EdgeKind.INSTANCE_OF))
    )
