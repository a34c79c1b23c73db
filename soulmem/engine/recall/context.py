"""What a recall asks for, which memories it may use, and how well the text of each fits the query."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulmem.conversation.episodes import memorable, narrative
from soulmem.conversation.sync import without_held
from soulmem.domain.dialogue import Message, Role
from soulmem.domain.ids import ChatId, MemoryId, SlotId
from soulmem.domain.memories import Memory
from soulmem.domain.soul import Soul, SoulClock
from soulmem.engine.api.requests import (
    RecallRequest,
    RecallType,
)
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.time_question import (
    TimeQuestion,
    find_time_question,
    rows_in_range,
)
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.alike_tellings import reached_tellings
from soulmem.engine.views.chat_summary import drafts_within_window, summary_before
from soulmem.engine.views.doubted import blocked_for_walks, rows_in_doubt
from soulmem.engine.world.world import World
from soulmem.graph.vectors import cosines_with
from soulmem.kernels.arrays import Bools, Float32s
from soulmem.kernels.warm import kernels
from soulmem.language.scripts import is_unspaced
from soulmem.retrieval import query as queries
from soulmem.retrieval.fusion import FusionParams, TextEvidence, fuse
from soulmem.retrieval.guidance import Guidance, guidance_of, parts_of, places
from soulmem.retrieval.mood import Mood, MoodParams, chat_mood, stated_mood
from soulmem.retrieval.restraint import generosity

# Waits for the cosines of the query with each row and with each pair of rows.
Cosines = Callable[[], tuple[Float32s, Float32s]]

_FEW_ROWS = 5000  # are compared before another thread has begun
_FEW_WORDS = 0.2  # of a query: a name in the other script says nothing of its language
_COSINE_THREAD = ThreadPoolExecutor(1, thread_name_prefix="soulmem-aside")
_REPLACING = (RecallType.SWIPE, RecallType.REGENERATE)
_LAST_MESSAGES = 20  # of a chat that are looked at for the query
_WAITING = 2  # lines before the newest that may wait for an answer


@dataclass(frozen=True, slots=True)
class RecallParams:
    """Defaults of a request."""

    budget_tokens: int = 1200  # design 4.6
    max_items: int = 8  # api: 1..50
    time_budget_ms: int = 1500  # design promise 5
    novelty: float = 0.15  # 0..1, against repeating oneself
    # Exchanges of short-term memory that `reserve_window` lets a recall use; design 4.
    window_turns: int = 3
    # 0..1, share of the attention from which an action fires; design 3.
    fires_from: float = 0.2
    fusion: FusionParams = field(default_factory=FusionParams)


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """The texts that stand for what is going on, in parts with shares that sum to 1.

    embed_parts  worded as memories are, so that their vectors are known already
    word_parts   the words alone: the name of who speaks would match everything that one ever said
    messages     of the chat, oldest first, that the soul heard last; empty where the request states a query
    parts        the questions of what the user asks; the whole of it where there is one or none
    waiting      lines before the newest that the soul has not answered yet, oldest first
    renamed      the newest once more, with another name of whom it names
    """

    embed_parts: tuple[queries.QueryPart, ...]
    word_parts: tuple[queries.QueryPart, ...]
    messages: tuple[Message, ...] = ()
    parts: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    renamed: tuple[str, ...] = ()

    @property
    def asked_lines(self) -> tuple[str, ...]:
        """Lines that are judged beside the newest: its parts, where it asks for several things, itself with other
        names, and those that wait for an answer.
        """
        parts = self.parts if len(self.parts) > 1 else ()
        return tuple(dict.fromkeys((*parts, *self.renamed, *self.waiting)))


@dataclass(frozen=True, slots=True)
class RecallContext:
    """What a recall may use and asks for; everything the compute thread needs.

    accessible      bool[n]  rows that walks and activation may pass through
    visible         bool[n]  of these the rows that may be in the answer, without digests
    digests         bool[n]  digests that may be in the answer
    budget          tokens
    named_concepts  for each part of `query.word_parts` the concepts it names, accessible or not, and its share
    other_names     further names of the things that the query names, and the share of the part
    now             aware; the story's present for a soul that lives by it
    by_story        whether it is that
    asked_time      None where the query names no time
    restraint       0 fills the budget .. 2 only what is sure; the soul's setting
    generosity      0..1, how far the bar of restraint stands
    summary         of the chat before its context window
    prompt_texts    that stand in the prompt already
    guidance        what the query asks for beside its words
    asked           float32[dim], unit vector of the query; None without one
    reached         bool[n]  `accessible` with merged tellings; None where nothing is joined
    """

    request: RecallRequest
    query: RecallQuery
    now: datetime
    accessible: Bools
    visible: Bools
    digests: Bools
    budget: int
    max_items: int
    extra_turns: int
    notes: tuple[str, ...]
    mood: Mood
    restraint: float
    generosity: float
    named_concepts: tuple[tuple[tuple[MemoryId, ...], float], ...] = ()
    other_names: tuple[tuple[str, float], ...] = ()
    asked_time: TimeQuestion | None = None
    summary: Memory | None = None
    prompt_texts: tuple[str, ...] = ()
    guidance: Guidance = field(default_factory=Guidance)
    asked: Float32s | None = None
    reached: Bools | None = None
    by_story: bool = False

    @property
    def concepts(self) -> list[MemoryId]:
        """All concepts that the query names, accessible or not."""
        return list(chain.from_iterable(concepts for concepts, _ in self.named_concepts))

    def named_by_part(self) -> Iterator[tuple[str, float, tuple[MemoryId, ...]]]:
        """Of each part of the query its words, its share and the concepts it names."""
        parts = zip(self.query.word_parts, self.named_concepts, strict=True)
        for (text, share), (concepts, _) in parts:
            yield text, share, concepts


@dataclass(frozen=True, slots=True)
class TextScores:
    """How well the text of each row fits the query, and its parts; arrays of shape (n,)."""

    score: Float32s  # standardised, -inf where not visible
    own: Float32s  # before neighbours lend their score; 0 where not visible
    alone: Float32s  # of the text by itself, without pairs and neighbours; -inf where not visible
    dense: Float32s  # cosine, NaN where there is no vector
    lexical: Float32s
    position: NDArray[np.int32]  # of every row in its chat
    by_tokens: bool = False  # with late interaction


class _Window(NamedTuple):
    """The part of the chat that stands in the prompt."""

    rows: Sequence[int] = ()  # memories of its messages
    hidden: Sequence[int] = ()  # rows that the answer must not repeat
    texts: tuple[str, ...] = ()  # of the messages, but for those that are reserved
    notes: tuple[str, ...] = ()


def build_query(world: World, request: RecallRequest) -> RecallQuery:
    """The query of the request, or the last messages of the chat when it states none."""
    messages: list[Message] = []
    if request.query is not None:
        embed_parts = word_parts = queries.parts_of_text(request.query)
    else:
        messages = _last_messages(world, request)
        embed_parts = queries.parts_of_messages(_texts_of(messages))
        word_parts = queries.parts_of_messages([m.text for m in messages])
    if request.intent:
        intent = (request.intent, 0.2 if embed_parts else 1.0)
        embed_parts = [(text, 0.8 * share) for text, share in embed_parts] + [intent]
        word_parts = [(text, 0.8 * share) for text, share in word_parts] + [intent]
    parts = parts_of(_asked_text(request, messages))
    waiting = [m for m in unanswered(world, request, messages) if m is not messages[-1]]
    return RecallQuery(
        tuple(embed_parts),
        tuple(word_parts),
        tuple(messages),
        tuple(parts),
        tuple(filter(None, (m.text.strip() for m in waiting[-_WAITING:]))),
    )


@compute_only
def build_context(
    world: World,
    mind: Mind,
    request: RecallRequest,
    query: RecallQuery,
    params: RecallParams,
    extra_turns: int,
    current_time: datetime,
    *,
    with_doubted: bool = False,
) -> RecallContext:
    """What this recall may use: by branch, presence, context window and time range.

    current_time  aware; words for time in the query count from here, in its zone
    with_doubted  include memories in doubt: the user looks for them
    """
    chat = request.chat
    accessible, visible = _accessible_and_visible(world, mind, chat, with_doubted)
    window = _window(world, mind, request, params.window_turns)
    visible[list(window.hidden)] = False
    if request.time_range is not None:
        visible &= rows_in_range(mind, request.time_range)
    digests = visible & mind.digest_rows()
    visible &= ~digests
    settings, story_time = mind.soul.settings, _story_time(world, mind, chat)
    asked_time = find_time_question(
        mind,
        _asked_text(request, query.messages),
        chat,
        accessible,
        visible,
        current_time,
        story_time,
        digests=digests,
    )
    mood = _current_mood(mind, request)
    guidance = guidance_of(query.parts, mood)
    own_budget = settings.budget_tokens or params.budget_tokens
    budget = request.budget_tokens or own_budget
    max_items = request.max_items or settings.max_items or params.max_items
    return RecallContext(
        request=request,
        query=query,
        now=story_time or current_time,
        by_story=story_time is not None,
        accessible=accessible,
        visible=visible,
        digests=digests,
        budget=budget,
        max_items=places(max_items, guidance.irritation),
        extra_turns=extra_turns,
        notes=window.notes,
        mood=mood,
        restraint=settings.restraint if request.restraint is None else request.restraint,
        generosity=generosity(budget, own_budget),
        named_concepts=tuple(
            (tuple(mind.names.spot(text)), share) for text, share in query.word_parts
        ),
        asked_time=asked_time,
        summary=summary_before(mind, chat, list(window.rows)),
        prompt_texts=request.context_texts + window.texts,
        guidance=guidance,
        reached=reached_tellings(mind, chat, _family(world, chat), world.holds),
    )


def start_cosines(mind: Mind, query: RecallQuery, vectors: Float32s | None) -> Cosines:
    """Compare the query with each text; many texts are compared on another processor from now on.

    `vectors` holds a unit row per part of the query, or is None.
    """
    if mind.size <= _FEW_ROWS:
        return lambda: _cosines(mind, query, vectors)
    begun = _COSINE_THREAD.submit(_cosines, mind, query, vectors)
    # Let it begin, or it waits 5 ms for its turn; compiled code then lets others run.
    time.sleep(0)
    return begun.result


@compute_only
def score_texts(
    mind: Mind,
    context: RecallContext,
    cosines: Cosines,
    params: FusionParams,
    meanwhile: Callable[[], object] | None = None,
) -> TextScores:
    """How well each text fits the query.

    `meanwhile` is called before it waits for the cosines.
    """
    n = mind.size
    beside = mind.neighbours(context.request.chat)
    own_words = queries.token_weights(context.query.word_parts, mind.tokeniser.tokens)
    words = {**_words_of_other_names(mind, context), **own_words}
    lexical = mind.words.scores(words, n)
    lexical_in = mind.words.pair_scores(words, beside.before)
    unread = in_other_script(mind, own_words)
    if meanwhile is not None:
        meanwhile()
    turn, pairs = cosines()
    pair_before, pair_after = np.empty((2, n), np.float32)
    of_pairs = pair_before, pair_after
    kernels(n).take_pairs(pairs, beside.pair_in, beside.pair_out, *of_pairs)
    evidence = TextEvidence(
        alone=turn,
        pair_before=pair_before,
        pair_after=pair_after,
        lexical=lexical,
        lexical_before=lexical_in,
        before=beside.before,
        after=beside.after,
        visible=context.visible,
        unread=unread,
    )
    fused = fuse(evidence, params)
    return TextScores(fused.score, fused.own, fused.alone, turn, lexical, beside.position)


def _family(world: World, chat: ChatId | None) -> ChatId | None:
    return world.family(chat) if chat is not None else None


def _accessible_and_visible(
    world: World, mind: Mind, chat: ChatId | None, with_doubted: bool
) -> tuple[Bools, Bools]:
    """The rows that walks may pass, and those that may be in the answer, before window and time range."""
    accessible = mind.accessible_rows(chat, _family(world, chat), world.holds)
    doubted = [] if with_doubted else rows_in_doubt(mind)
    accessible[blocked_for_walks(mind, doubted)] = False
    visible = mind.displayable_rows(accessible)
    visible[doubted] = False
    visible &= with_doubted | ~mind.line_kinds.filler(mind.size)
    if chat is not None:
        visible[mind.opinions.kept_out(chat)] = False
    return accessible, visible


def _window(world: World, mind: Mind, request: RecallRequest, reserved_turns: int) -> _Window:
    """The messages of the chat that stand in the prompt, by `context_from`; none without it."""
    chat, first = request.chat, request.context_from
    if chat is None or first is None:
        return _Window()
    messages = _messages_from(world, mind.soul, chat, first)
    if messages is None:
        note = f"context_from {first!r} is no message of this chat and was ignored"
        return _Window(notes=(note,))
    reserved = _last_exchanges(messages, reserved_turns) if request.reserve_window else []
    rows = mind.tail_rows(chat, {m.slot for m in messages}.__contains__)
    open_rows = set(mind.tail_rows(chat, {m.slot for m in reserved}.__contains__))
    closed = [row for row in rows if row not in open_rows]
    shown = _shown_to_model(messages[: len(messages) - len(reserved)], request)
    return _Window(
        rows=rows,
        hidden=[*closed, *drafts_within_window(mind, chat, closed)],
        texts=tuple(m.text for m in shown),
    )


def _story_time(world: World, mind: Mind, chat: ChatId | None) -> datetime | None:
    """The present of the chat's story; None where the soul does not live by it, or no message has one."""
    log = world.loaded_log(chat) if chat is not None else None
    if log is None or mind.soul.settings.clock is not SoulClock.STORY:
        return None
    times = (m.story_at for m in log.stories if m.story_at is not None)
    return max(times, default=None)


def _texts_of(messages: Sequence[Message]) -> list[str]:
    """What is embedded of the messages: the newest speaks for itself, the older ones as they are remembered.

    The name of who says the newest line matches every memory of them, and none in particular.
    """
    return [*(narrative(m) for m in messages[:-1]), *(m.text for m in messages[-1:])]


def _asked_text(request: RecallRequest, messages: Sequence[Message]) -> str:
    """The user's question: the query of the request, else the user's last message to the soul."""
    if request.query is not None:
        return request.query
    for message in reversed(messages):
        if message.role is Role.USER:
            return message.text
    return ""


def unanswered(
    world: World, request: RecallRequest, messages: Sequence[Message]
) -> Sequence[Message]:
    """The messages since the soul's own last words."""
    is_own = own_words(world, request)
    stop = len(messages)
    while stop and is_own(messages[stop - 1]):  # a reply that is being continued
        stop -= 1
    start = stop
    while start and not is_own(messages[start - 1]):
        start -= 1
    return messages[start:stop]


def own_words(world: World, request: RecallRequest) -> Callable[[Message], bool]:
    """Whether a message of the chat is the soul's own."""
    log = world.loaded_log(request.chat) if request.chat is not None else None
    alone = log is not None and len(log.head.souls) == 1
    name = world.soul(request.soul).name

    def is_own(message: Message) -> bool:
        return message.role is Role.CHARACTER and (alone or message.speaker in (name, ""))

    return is_own


def _current_mood(mind: Mind, request: RecallRequest) -> Mood:
    """The mood that the request states, else that of the feelings in the chat's last memories."""
    stated, chat = request.mood, request.chat
    if stated is not None:
        return stated_mood(stated.label, stated.intensity)
    branch = mind.branches.branch(chat) if chat is not None else None
    last = branch.order[-MoodParams().messages :] if branch is not None else ()
    feelings = []
    for key in last:
        memory = mind.memories.get(key)
        if memory is not None:
            emotions = memory.situation.emotions
            feelings.append([(e.label, e.intensity) for e in emotions])
    return chat_mood(feelings)


def unit_query(parts: Sequence[queries.QueryPart], vectors: Float32s) -> Float32s:
    """The unit vector of a query from those of its parts, by their shares."""
    shares = np.asarray([share for _, share in parts], np.float32)
    asked = shares @ vectors
    return np.asarray(asked / max(float(np.linalg.norm(asked)), 1e-9), np.float32)


def _cosines(mind: Mind, query: RecallQuery, vectors: Float32s | None) -> tuple[Float32s, Float32s]:
    """Cosines of the query with each row and with each pair; NaN where there is no vector."""
    own_table, pair_table = (
        mind.vector_queue.text_vectors,
        mind.vector_queue.pair_vectors,
    )
    if vectors is None or not own_table or not pair_table or vectors.shape[1] != own_table.dim:
        nothing = np.full(max(mind.size, mind.pair_count), np.nan, np.float32)
        return nothing[: mind.size], nothing[: mind.pair_count]
    asked = unit_query(query.embed_parts, vectors)
    return cosines_with(asked, own_table, mind.size, pair_table, mind.pair_count)


def _words_of_other_names(mind: Mind, context: RecallContext) -> dict[str, float]:
    """Weights of the words of the other names of each named concept: 林月 for Lin Yue."""
    weights: dict[str, float] = {}
    names: list[tuple[str, float]] = []
    for concepts, share in context.named_concepts:
        for concept in concepts:
            names += ((name, share) for name in mind.names.names_of(concept))
    names += context.other_names
    for name, share in names:
        for token in mind.tokeniser.tokens(name):
            weights[token] = max(weights.get(token, 0.0), sqrt(share))
    return weights


def in_other_script(mind: Mind, words: Collection[str]) -> Bools | None:
    """Memories in a script that hardly any of these words of a query is in; None when it has words of both."""
    unspaced = mind.columns.unspaced[: mind.size]
    share = sum(map(is_unspaced, words)) / max(1, len(words))
    if _FEW_WORDS <= share <= 1 - _FEW_WORDS:
        return None
    return np.asarray(unspaced if share < _FEW_WORDS else ~unspaced)


def _last_messages(world: World, request: RecallRequest) -> list[Message]:
    """The chat's last messages that the soul heard: not the reply that is being replaced or continued, nothing
    out of character, nothing quarantined.
    """
    log = world.loaded_log(request.chat) if request.chat is not None else None
    if log is None:
        return []
    heard = log.remembered(world.soul(request.soul))
    messages = without_held(heard, log.head.quarantine, _LAST_MESSAGES)
    _drop_last(messages, request, *_REPLACING, RecallType.CONTINUE)
    out = []
    for message in messages:
        present = log.head.souls if message.present is None else message.present
        if request.soul in present and memorable(message):
            out.append(message)
    return out


def _messages_from(
    world: World, soul: Soul, chat: ChatId, first: SlotId
) -> Sequence[Message] | None:
    """The chat's messages from `first` on; None when it is not one of them."""
    log = world.loaded_log(chat)
    index = log.index.get(first) if log is not None else None
    return None if log is None or index is None else log.remembered(soul)[index:]


def _last_exchanges(messages: Sequence[Message], turns: int) -> Sequence[Message]:
    """The messages of the last `turns` exchanges; an exchange begins with the user. All when there are fewer."""
    begins = [i for i, m in enumerate(messages) if m.role is Role.USER and not m.hidden]
    return messages[begins[-turns] if len(begins) >= turns else 0 :]


def _shown_to_model(messages: Sequence[Message], request: RecallRequest) -> list[Message]:
    """The messages that the model is shown: no hidden ones, not the reply that is being replaced."""
    out = [m for m in messages if not m.hidden]
    _drop_last(out, request, *_REPLACING)
    return out


def _drop_last(messages: list[Message], request: RecallRequest, *types: RecallType) -> None:
    """Remove the last message where the request is of one of these types and for the reply in its place."""
    if not messages or request.type not in types:
        return
    last = messages[-1]
    if last.role is not Role.USER and request.slot in (None, last.slot):
        messages.pop()
