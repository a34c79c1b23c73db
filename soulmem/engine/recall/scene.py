"""Which memories a recall may see, and how well each answers it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.episodes import memorable, narrative
from soulmem.conversation.sync import without_held
from soulmem.domain.dialogue import Message, Role
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import Memory
from soulmem.domain.soul import SoulClock
from soulmem.engine.api.requests import RecallMode, RecallRequest, RecallType
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.time_question import AskedTime, time_asked
from soulmem.engine.views.chat_summary import drafted_inside, summary_before
from soulmem.engine.views.doubted import not_passed, rows_in_doubt
from soulmem.engine.world.world import World
from soulmem.graph.vectors import cosines_with
from soulmem.language.scripts import is_unspaced
from soulmem.retrieval import query as queries
from soulmem.retrieval.fusion import FusionParams, TextEvidence, fuse_all
from soulmem.retrieval.time_spans import overlaps_span

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Cosines = Callable[
    [], tuple[Floats, Floats]
]  # of the cue and each row, and each pair; waits for them

_FEW_ROWS = 5000  # are read before another thread has begun
_FEW_WORDS = 0.2  # of a cue: a name in the other script says nothing of how it reads
_ASIDE = ThreadPoolExecutor(1, thread_name_prefix="soulmem-aside")
_EXPAND = "no grade lies between baseline and walk yet: expand goes as far as walk"


@dataclass(frozen=True, slots=True)
class RecallParams:
    """What a request leaves open."""

    budget_tokens: int = 1200  # design 4.6
    max_items: int = 8  # api: 1..50
    time_budget_ms: int = 1500  # design promise 5
    novelty: float = 0.15  # 0..1, against repeating oneself
    window_turns: int = (
        3  # exchanges of short-term memory that `reserve_window` gives free; design 4
    )
    fires_from: float = (
        0.2  # 0..1, share of the attention from which an action fires; design 3
    )
    fusion: FusionParams = field(default_factory=FusionParams)


@dataclass(frozen=True, slots=True)
class Cue:
    """What stands for what is going on, in parts with shares that sum to 1."""

    meant: tuple[
        queries.QueryPart, ...
    ]  # as memories are written, so that their vectors are known already
    said: tuple[
        queries.QueryPart, ...
    ]  # the words alone: who speaks would match everything that one ever said


@dataclass(frozen=True, slots=True)
class Scene:
    """What a recall may see and asks for; everything the compute thread needs."""

    request: RecallRequest
    cue: Cue
    known: NDArray[np.bool_]  # rows that thoughts may pass through
    visible: NDArray[np.bool_]  # of these the rows that may be told
    budget: int
    max_items: int
    extra_turns: int
    notes: tuple[str, ...]
    # The concepts that each part of what is said names, known or not, and the share of the part.
    named: tuple[tuple[tuple[MemoryId, ...], float], ...] = ()
    also: tuple[
        tuple[str, float], ...
    ] = ()  # what else is known to go by these names, and the share
    asked: AskedTime | None = None  # the time that the cue names
    summary: Memory | None = None  # of what the chat told before its context window
    context: tuple[str, ...] = ()  # texts that stand in the prompt


@dataclass(frozen=True, slots=True)
class Texts:
    """How well the text of each row answers, and what made that score; arrays of shape (n,)."""

    score: Floats  # standardised, -inf where not visible
    own: Floats  # before what stands beside it lends its score; 0 where not visible
    alone: Floats  # the text by itself, without pairs and neighbours; -inf where not visible
    dense: Floats  # cosine, NaN where there is no vector
    lexical: Floats
    position: NDArray[np.int32]  # of every row in its chat


def cue_of(world: World, request: RecallRequest) -> Cue:
    """The query, or the last messages of the chat when none is given."""
    if request.query is not None:
        meant = said = queries.parts_of_text(request.query)
    else:
        last = last_messages(world, request)
        meant = queries.parts_of_messages([narrative(m) for m in last])
        said = queries.parts_of_messages([m.text for m in last])
    if request.intent:
        aim = (request.intent, 0.2 if meant else 1.0)
        meant = [(text, 0.8 * share) for text, share in meant] + [aim]
        said = [(text, 0.8 * share) for text, share in said] + [aim]
    return Cue(tuple(meant), tuple(said))


def scene_of(
    world: World,
    mind: Mind,
    request: RecallRequest,
    cue: Cue,
    params: RecallParams,
    extra_turns: int,
    now: datetime,
    *,
    with_doubted: bool = False,
) -> Scene:
    """What this recall may see: lineage, presence, the context window and the time asked for. Computes.

    now           aware; words for time in the cue count from here, in its zone
    with_doubted  also what is in doubt: the user looks for it
    """
    chat = request.chat
    family = world.family(chat) if chat is not None else None
    known = mind.known(chat, family, world.holds)
    doubted = [] if with_doubted else rows_in_doubt(mind)
    known[not_passed(mind, doubted)] = False
    visible = mind.shown(known)
    visible[doubted] = False
    if chat is not None:
        visible[mind.opinions.kept_out(chat)] = False
    notes = [_EXPAND] if request.mode is RecallMode.EXPAND else []
    here: list[int] = []
    context = request.context_texts
    if chat is not None and request.context_from is not None:
        window = _window(world, chat, request.context_from)
        if window is None:
            notes.append(
                f"context_from {request.context_from!r} is no message of this chat and was ignored"
            )
        else:
            here = mind.rows_from(chat, {m.slot for m in window}.__contains__)
            free = (
                _reserved(window, params.window_turns) if request.reserve_window else []
            )
            open_rows = mind.rows_from(chat, {m.slot for m in free}.__contains__)
            shut = [row for row in here if row not in set(open_rows)]
            visible[shut] = False
            visible[drafted_inside(mind, chat, shut)] = False
            context += tuple(
                m.text for m in _readable(window[: len(window) - len(free)], request)
            )
    if request.time_range is not None:
        start, end = request.time_range.start, request.time_range.end
        visible &= overlaps_span(
            mind.columns.happened[: mind.size],
            mind.columns.ended[: mind.size],
            start.timestamp() if start is not None else -np.inf,
            end.timestamp() if end is not None else np.inf,
        )
    settings = mind.soul.settings
    return Scene(
        request=request,
        cue=cue,
        known=known,
        visible=visible,
        budget=request.budget_tokens or settings.budget_tokens or params.budget_tokens,
        max_items=request.max_items or settings.max_items or params.max_items,
        extra_turns=extra_turns,
        notes=tuple(notes),
        named=tuple((tuple(mind.names.spot(text)), share) for text, share in cue.said),
        asked=time_asked(
            mind,
            _words_of(world, request),
            chat,
            known,
            visible,
            now,
            _story_now(world, mind, chat),
        ),
        summary=summary_before(mind, chat, here),
        context=context,
    )


def _story_now(world: World, mind: Mind, chat: ChatId | None) -> datetime | None:
    """When it is in the story of the chat; None where the soul does not live by it, or none is told."""
    log = world.loaded_log(chat) if chat is not None else None
    if log is None or mind.soul.settings.clock is not SoulClock.STORY:
        return None
    return max(
        (m.story_at for m in log.messages if m.story_at is not None), default=None
    )


def _words_of(world: World, request: RecallRequest) -> str:
    """What the user asks: the query, else what was last said to the soul."""
    if request.query is not None:
        return request.query
    said = (
        m.text for m in reversed(last_messages(world, request)) if m.role is Role.USER
    )
    return next(said, "")


def meaning(mind: Mind, cue: Cue, vectors: Floats | None) -> Cosines:
    """How alike the cue and each text are; of many texts another processor compares them from now on.

    `vectors` holds a unit row per part of the cue, or is None.
    """
    if mind.size <= _FEW_ROWS:
        return lambda: _cosines(mind, cue, vectors)
    begun = _ASIDE.submit(_cosines, mind, cue, vectors)
    time.sleep(
        0
    )  # let it begin, or it waits 5 ms for its turn; compiled code then lets others run
    return begun.result


def read(
    mind: Mind,
    scene: Scene,
    cosines: Cosines,
    params: FusionParams,
    meanwhile: Callable[[], object] | None = None,
) -> Texts:
    """How well each text answers. Computes; `meanwhile` is done before it waits for the cosines."""
    n = mind.size
    beside = mind.neighbours(scene.request.chat)
    said = queries.token_weights(scene.cue.said, mind.tokeniser.tokens)
    words = {**_other_names(mind, scene), **said}
    lexical = mind.words.scores(words, n)
    lexical_in = mind.words.pair_scores(words, beside.before)
    unread = _unread(mind, said)
    if meanwhile is not None:
        meanwhile()
    turn, pairs = cosines()
    evidence = TextEvidence(
        alone=turn,
        pair_before=pairs.take(beside.pair_in, mode="wrap"),  # -1 is the last: none
        pair_after=pairs.take(beside.pair_out, mode="wrap"),
        lexical=lexical,
        lexical_before=lexical_in,
        before=beside.before,
        after=beside.after,
        visible=scene.visible,
        unread=unread,
    )
    fused = fuse_all(evidence, params)
    return Texts(fused.score, fused.own, fused.alone, turn, lexical, beside.position)


def _cosines(mind: Mind, cue: Cue, vectors: Floats | None) -> tuple[Floats, Floats]:
    """Cosine of the cue and each row, shape (n,), and each pair, with one place more that stands for none;
    NaN where there is no vector.
    """
    own_table, pair_table = mind.embedded.turns, mind.embedded.pairs
    if (
        vectors is None
        or not own_table
        or not pair_table
        or vectors.shape[1] != own_table.dim
    ):
        nothing = np.full(max(mind.size, mind.pair_count + 1), np.nan, np.float32)
        return nothing[: mind.size], nothing[: mind.pair_count + 1]
    asked = np.asarray([share for _, share in cue.meant], np.float32) @ vectors
    asked /= max(float(np.linalg.norm(asked)), 1e-9)
    own, pairs = cosines_with(asked, own_table, mind.size, pair_table, mind.pair_count)
    return own, np.append(pairs, np.float32(np.nan))


def _other_names(mind: Mind, scene: Scene) -> dict[str, float]:
    """Words of what else goes by a name in the cue: 林月 for Lin Yue."""
    found: dict[str, float] = {}
    for concepts, share in scene.named:
        for concept in concepts:
            for name in mind.names.names_of(concept):
                for token in mind.tokeniser.tokens(name):
                    found[token] = max(found.get(token, 0.0), sqrt(share))
    for name, share in scene.also:
        for token in mind.tokeniser.tokens(name):
            found[token] = max(found.get(token, 0.0), sqrt(share))
    return found


def _unread(mind: Mind, words: Collection[str]) -> Bools | None:
    """Memories in a script of which these words of a cue are hardly any; None when there are some of each."""
    unspaced = mind.columns.unspaced[: mind.size]
    share = sum(map(is_unspaced, words)) / max(1, len(words))
    if _FEW_WORDS <= share <= 1 - _FEW_WORDS:
        return None
    return np.asarray(unspaced if share < _FEW_WORDS else ~unspaced)


def last_messages(world: World, request: RecallRequest) -> list[Message]:
    """What the chat is about now: not the reply that is being replaced, nothing out of character, nothing
    held.
    """
    log = world.loaded_log(request.chat) if request.chat is not None else None
    if log is None:
        return []
    messages = without_held(log.messages, log.head.hold)[-20:]
    replaces = request.type in (RecallType.SWIPE, RecallType.REGENERATE)
    if (
        messages
        and replaces
        and messages[-1].role is not Role.USER
        and request.slot in (None, messages[-1].slot)
    ):
        messages.pop()
    soul = request.soul
    heard = [
        m
        for m in messages
        if soul in (log.head.souls if m.present is None else m.present)
    ]
    return [m for m in heard if memorable(m)]


def _window(world: World, chat: ChatId, first: SlotId) -> Sequence[Message] | None:
    """The chat's messages from `first` on; None when that is none of them."""
    log = world.loaded_log(chat)
    at = log.index.get(first) if log is not None else None
    return None if log is None or at is None else log.messages[at:]


def _reserved(window: Sequence[Message], turns: int) -> Sequence[Message]:
    """Of these messages those of the last exchanges, each of which begins with the user."""
    asked = [at for at, m in enumerate(window) if m.role is Role.USER and not m.hidden]
    return window[asked[-turns] if len(asked) >= turns else 0 :]


def _readable(messages: Sequence[Message], request: RecallRequest) -> list[Message]:
    """Those that the model is shown: no hidden ones, and not the reply that is being replaced."""
    replaces = request.type in (RecallType.SWIPE, RecallType.REGENERATE)
    out = [m for m in messages if not m.hidden]
    if (
        replaces
        and out
        and out[-1].role is not Role.USER
        and request.slot in (None, out[-1].slot)
    ):
        out.pop()
    return out
