"""What each line of a moment calls for: the features of the best memories, and how likely each is called for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log

import numpy as np
from numpy.typing import NDArray

from soulmem.assembly.why import Weight
from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import MemoryKind, Origin
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.mind.kind_table import SURE
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import (
    RecallContext,
    RecallQuery,
    TextScores,
    in_other_script,
    score_texts,
    start_cosines,
)
from soulmem.engine.recall.ease import ease_of, primed_rows
from soulmem.engine.recall.late_interaction import QueryTokens, interact
from soulmem.engine.recall.line_matches import (
    LineMatches,
    WorldWords,
    matches_by_tokens,
    matches_by_words,
    no_matches,
    world_words,
)
from soulmem.engine.recall.query_embedding import EmbeddedQuery
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.vectors.world_background import Usual
from soulmem.graph.arcs import MEMORY_KINDS
from soulmem.graph.columns import ORIGINS
from soulmem.kernels.arrays import Float64s, Int64s
from soulmem.kernels.max_similarity import WINDOW
from soulmem.language.kinds.line_kinds import KINDS, THEMES
from soulmem.language.name_tokens import fold
from soulmem.language.passages import PASSAGE, length_of
from soulmem.language.speech import language_of, languages_said, speech_of
from soulmem.language.world_lines import world_language
from soulmem.ports.embedder import TokenStates
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.decision_model import (
    MEMORY_FEATURES,
    Decision,
    Scale,
    fitted,
    line_features,
    probability,
)
from soulmem.retrieval.fusion import FusionParams, standardised
from soulmem.retrieval.restraint import least_probability

CANDIDATES = 32  # memories of a line that are judged, the best by their texts
# memories of the smallest souls that the numbers were fitted on; fewer count as so many
_YOUNGEST = 10
_EPISODE, _CHAT = MEMORY_KINDS.index(MemoryKind.EPISODE), ORIGINS.index(Origin.CHAT)
# The kind that a feature of a memory is of.
_KINDS = {
    "momentous": "momentous",
    "fact": "fact",
    "promise": "promise",
    "asks": "question",
    "filler": "filler",
}
_FORMER, _QUESTION, _LASTING = map(KINDS.index, ("former", "question", "lasting"))
_LASTS = 0.5  # 0..1, how surely a usual memory tells what lasts; one of unknown kind counts as such
_UNIT = 10.0  # of weights of matches, in the logarithm
_EASIEST = 8.0  # times the odds of a memory that comes as easily as any can
# What is told of the features of a memory, as a reason; those of the line weigh for all memories alike.
_WEIGHTS = {
    Weight.TEXT: ("fit", "alone", "behind", "meaning"),
    Weight.WORDS: ("evidence", "own_evidence", "covered"),
    Weight.NAMED: ("named",),
    Weight.MOMENTOUS: ("momentous",),
    Weight.FACT: ("fact", "lasting"),
    Weight.PROMISE: ("promise",),
    Weight.THEME: ("theme",),
}
# A word in at most so many texts, or in that share of them, is rare.
_FEW_TEXTS = 8
_FEW = 0.06


@dataclass(frozen=True, slots=True)
class Line:
    """A line that waits for an answer: what it says, the concepts it names, how well each text fits it.

    states, usual  of its tokens, None without token states; see `LineMatches`
    kinds          float32[KINDS], how surely it is a line of each kind; None while that is not known
    """

    text: str
    concepts: tuple[MemoryId, ...]
    scores: TextScores
    states: TokenStates | None = None
    usual: Usual | None = None
    kinds: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """The best memories of a line.

    rows      int64[m]
    features  float64[m, MEMORY_FEATURES]
    known     0..1, see `LineMatches`
    scale     which numbers judge
    memory    float64[m], 0..1, that it is this memory, if the line calls for something
    calls     0..1, that the line calls for something
    value     float64[m], how much more a memory is worth as an answer to this line than as one to a remark, >= 1
    ease      float64[m], 0..1, see `ease_of`
    absent    names that it asks for and that the soul has never heard of
    is_open   whether it asks for all of a sort, and these are the memories of that sort, the best first
    """

    line: Line
    rows: Int64s
    features: Float64s
    known: float
    scale: Scale
    memory: Float64s
    calls: float
    ease: Float64s
    value: Float64s
    absent: tuple[str, ...] = ()
    is_open: bool = False

    def weighed(self, place: int) -> tuple[Weight, ...]:
        """What weighed most for the memory at a place of `rows`, the most first."""
        features = self.features[place : place + 1]
        (shares,) = fitted().models[self.scale].memory.shares(features)
        share = dict(zip(MEMORY_FEATURES, shares.tolist(), strict=True))
        weights = {key: sum(share[name] for name in of) for key, of in _WEIGHTS.items()}
        weights[Weight.AT_HAND] = float(self.ease[place]) * log(_EASIEST)
        order = sorted(weights, key=lambda key: -weights[key])
        return tuple(key for key in order if weights[key] > 0.0)

    @property
    def called(self) -> Float64s:
        """float64[m], that the line calls for each memory, times the value."""
        return self.memory * self.calls * self.value


@dataclass(frozen=True, slots=True)
class Judged:
    """What the lines of a moment call for.

    least  probability from which on a memory comes for a remark; for other lines it is divided by their value
    given  whether the request calls for memories by something else than its lines: a time, an intent, tags
    past   whether a line names a time that is over
    """

    lines: tuple[JudgedLine, ...]
    least: float
    given: bool = False
    past: bool = False

    @property
    def sure(self) -> bool:
        """Whether the moment calls for memories, whatever its lines are like."""
        return self.given or self.past

    @property
    def calls(self) -> float:
        """0..1, that any of the lines calls for something."""
        return max((1.0 if self.sure else line.calls for line in self.lines), default=0)

    @property
    def asks_of_before(self) -> bool:
        """Whether a line may ask how things were before they changed, or a time is asked for."""
        kinds = (line.line.kinds for line in self.lines)
        return self.sure or any(k is None or k[_FORMER] >= SURE for k in kinds)

    def of_row(self) -> dict[int, float]:
        """By row how likely the moment calls for it, times the value of telling it: what to compare with `least`.

        Rows that are left out have 0.
        """
        out: dict[int, float] = {}
        for line in self.lines:
            likely = self._likely(line)
            for row, share in zip(line.rows.tolist(), likely.tolist(), strict=True):
                out[row] = max(share, out.get(row, 0.0))
        return out

    def open_rows(self) -> list[int]:
        """The rows of the sorts that lines ask for, the best first."""
        rows = chain.from_iterable(x.rows.tolist() for x in self.lines if x.is_open)
        return list(dict.fromkeys(rows))

    @property
    def is_called(self) -> bool:
        """Whether any memory is called for."""
        return self.least == 0.0 or bool(self.called_rows())

    def weighed(self, row: int) -> tuple[Weight, ...]:
        """What weighed most for a row, by the line that most likely calls for it; empty where none was judged."""
        places = [
            (self._likely(line)[place], index, place)
            for index, line in enumerate(self.lines)
            for place in np.flatnonzero(line.rows == row).tolist()
        ]
        if not places or self.least == 0.0:
            return ()
        _, index, place = max(places)
        return self.lines[index].weighed(place)

    def asked_rows(self) -> set[int]:
        """The rows that a question or the request calls for, which find faded memories as well."""
        out = set[int]()
        for line in self.lines:
            if self.given or (line.value > 1.0).any():
                out.update(line.rows[self._likely(line) >= self.least].tolist())
        return out

    def _likely(self, line: JudgedLine) -> Float64s:
        """float64[m], that a line calls for each memory, times the value of telling it."""
        return line.memory * line.value if self.sure else line.called

    def lines_that_call(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        """Those of these lines that call for a memory at restraint 1."""
        calling = set[int]()
        for judged in self.lines:
            if judged.called.max() >= fitted().models[judged.scale].least:
                calling.add(id(judged.line))
        return tuple(line for line in lines if id(line) in calling)

    def called_rows(self) -> dict[int, float]:
        """How likely the moment calls for each row that it likely calls for, the likeliest first; none without
        restraint.
        """
        likely = [pair for pair in self.of_row().items() if pair[1] >= self.least > 0.0]
        return dict(sorted(likely, key=lambda pair: (-pair[1], pair[0])))


@compute_only
def judge(mind: Mind, context: RecallContext, lines: Sequence[Line]) -> Judged:
    """How likely the moment calls for the best memories of each line."""
    primed = primed_rows(mind, context) if lines else {}
    judged = list(chain.from_iterable(_judged(mind, context, line, primed) for line in lines))
    scale: Scale = judged[0].scale if judged else "words"
    irritation = context.guidance.irritation
    least = least_probability(
        context.restraint * (1.0 + irritation),
        fitted().models[scale].least,
        context.generosity,
    )
    request = context.request
    if request.mode is not RecallMode.AUTO:
        least = 0.0  # who asks for a grade wants what it finds
    is_given = bool(request.intent or request.tags or request.time_range)
    return Judged(tuple(judged), least, is_given, asks_for_past(context))


@compute_only
def judge_rows(mind: Mind, context: RecallContext, line: Line, rows: Int64s) -> JudgedLine:
    """The line with these memories, compared by words; at least one."""
    matches = matches_by_words(mind, context.request.chat, line.text, rows)
    primed = primed_rows(mind, context)
    return _judged_by(mind, context, line, primed, "words", rows, matches)


def asks_for_past(context: RecallContext) -> bool:
    """Whether the query names a time that is over: today is in every other line."""
    asked = context.asked_time
    if asked is None:
        return False
    if any(phrase.sessions is not None for phrase in asked.phrases):
        return True
    spans = chain.from_iterable(phrase.spans for phrase in asked.phrases)
    return min(span.end for span in spans) <= asked.current_time


def _judged(
    mind: Mind, context: RecallContext, line: Line, primed: Mapping[int, float]
) -> Iterator[JudgedLine]:
    """None where no text is visible; two of a line that words compare, where memories are in another language."""
    rows = best_rows(line.scores.score, CANDIDATES)
    if not rows.size or not line.text:
        return
    chat = context.request.chat
    if line.states is not None and line.usual is not None:
        matches = matches_by_tokens(mind, chat, line.states, line.usual, rows)
        if matches is not None:
            yield _judged_by(mind, context, line, primed, "tokens", rows, matches)
            return
    strange = _in_other_language(mind, line.text, rows)
    read, unread = rows[~strange], rows[strange]
    if read.size:
        matches = matches_by_words(mind, chat, line.text, read)
        yield _judged_by(mind, context, line, primed, "words", read, matches)
    if unread.size:
        matches = no_matches(mind, line.text, unread)
        yield _judged_by(mind, context, line, primed, "meaning", unread, matches)


def _in_other_language(mind: Mind, text: str, rows: Int64s) -> NDArray[np.bool_]:
    """Which memories words cannot match with the text, bool[rows]: those in another script or another language."""
    other = in_other_script(mind, mind.tokeniser.tokens(text))
    strange = np.zeros(rows.size, bool) if other is None else other[rows]
    said = languages_said(text)
    if not said:
        return strange
    theirs = map(languages_said, mind.texts_at(rows.tolist()))
    return strange | [bool(codes) and codes.isdisjoint(said) for codes in theirs]


def _judged_by(
    mind: Mind,
    context: RecallContext,
    line: Line,
    primed: Mapping[int, float],
    scale: Scale,
    rows: Int64s,
    matches: LineMatches,
) -> JudgedLine:
    is_special = _is_special_word(mind, line, matches)
    features = _features(mind, context, line, rows, matches, is_special=is_special)
    decision: Decision = fitted().models[scale]
    log_odds = decision.memory.log_odds(features)
    of_line = line_features(features, log_odds, matches.known)
    calls = float(probability(decision.line.log_odds(of_line[None]))[0])
    is_question = line.kinds is not None and line.kinds[_QUESTION] >= SURE
    ease = ease_of(mind, rows.tolist(), primed)
    memory = probability(log_odds + ease * log(_EASIEST))
    asks = is_question or is_special
    return JudgedLine(
        line=line,
        rows=rows,
        features=features,
        known=matches.known,
        scale=scale,
        memory=memory,
        calls=calls,
        ease=ease,
        value=decision.values(memory) if asks else np.ones(rows.size),
    )


def _is_special_word(mind: Mind, line: Line, matches: LineMatches) -> bool:
    """Whether a line is one word that a memory says and plain chat lines do not.

    An encoder takes such a word for filler; here it is a question for that memory. Token states find it anyway.
    """
    return matches.known == 1.0 and len(mind.tokeniser.tokens(line.text)) == 1


def _features(
    mind: Mind,
    context: RecallContext,
    line: Line,
    rows: Int64s,
    matches: LineMatches,
    *,
    is_special: bool,
) -> Float64s:
    """float64[m, MEMORY_FEATURES]; the order of the columns is that of the names there."""
    scores, texts = line.scores, mind.texts_at(rows.tolist())
    fit = standardised(scores.score, context.visible, rows).astype(np.float64)
    alone = np.where(np.isfinite(scores.alone[rows]), scores.alone[rows], 0.0)
    weight, total = matches.weight, max(float(matches.weight.sum()), 1e-6)
    scored = mind.line_kinds.scores(rows)
    kinds, lasting = np.nan_to_num(scored), np.nan_to_num(scored[:, _LASTING] - _LASTS)
    own = _own_words(mind, rows)
    of_line = np.zeros(len(KINDS)) if line.kinds is None else line.kinds
    asks, theme = of_line[_QUESTION], kinds[:, THEMES] * of_line[THEMES]
    values = {
        "fit": fit,
        "alone": alone,
        "behind": fit.max() - fit,
        "evidence": np.log1p(weight @ matches.wide / _UNIT),
        "own_evidence": np.log1p(weight @ matches.own / _UNIT),
        "covered": weight @ matches.wide / total,
        "meaning": standardised(scores.dense, context.visible, rows),
        "named": _named(mind, line, texts),
        "own": own,
        "aimed": 2.0 * _aim(line.text) * own,
        "length": np.log([_judged_length(text) + 1.0 for text in texts]),
        **{name: kinds[:, KINDS.index(kind)] for name, kind in _KINDS.items()},
        "lasting": lasting * asks,
        "theme": theme.max(axis=1) * asks,
        "question": asks,
        "empty": 0.0 if is_special else of_line[KINDS.index("filler")],
        "specific": np.log1p(weight.sum() / _UNIT),
        "words": np.log(matches.count + 1.0),
        "size": np.log(max(int(np.count_nonzero(context.visible)), _YOUNGEST)),
    }
    columns = [np.broadcast_to(values[name], rows.shape) for name in MEMORY_FEATURES]
    return np.stack(columns, axis=1).astype(np.float64)


def _own_words(mind: Mind, rows: Int64s) -> Float64s:
    """1 for each of these memories that is the soul's own words, 0 for words of others, .5 for no message; less
    their mean, so that all are 0 where only one side has spoken.
    """
    columns = mind.columns
    is_message = (columns.kind[rows] == _EPISODE) & (columns.origin[rows] == _CHAT)
    own = np.where(is_message, ~columns.opens_exchange[rows], 0.5)
    return np.asarray(own - own.mean())


def _aim(text: str) -> float:
    """1 for a line that speaks of its listener, -1 for one that speaks of its speaker, 0 of both or neither."""
    speech = speech_of(language_of(text) or world_language(text))
    return float(speech.tells_of_listener(text)) - float(speech.tells_of_speaker(text))


def _judged_length(text: str) -> float:
    """The characters of the text, of a long one about those of the passages that are judged together."""
    return len(text) * min(1.0, WINDOW * PASSAGE / max(length_of(text), 1))


def _named(mind: Mind, line: Line, texts: Sequence[str]) -> Float64s:
    """1 for each text with a whole name of a concept that the line names, speakers left out."""
    others = (concept for concept in line.concepts if not speaks(mind, concept))
    names = chain.from_iterable(map(mind.names.names_of, others))
    folded = {name.casefold() for name in names}
    said = np.zeros(len(texts))
    for place, text in enumerate(texts):
        said[place] = any(map(text.casefold().__contains__, folded))
    return said


def speaks(mind: Mind, concept: MemoryId) -> bool:
    """Whether the concept is somebody who talks in the chats: their names are in every other line."""
    return any(mind.name_counts.is_speaker(fold(name)) for name in mind.names.names_of(concept))


def newest_line(
    context: RecallContext,
    scores: TextScores,
    embedded: EmbeddedQuery,
) -> tuple[Line, ...]:
    """The newest text of the query; none where nothing was said.

    scores  of the whole query
    """
    if not context.query.word_parts:
        return ()
    text, _ = context.query.word_parts[-1]
    named = context.named_concepts[-1][0] if context.named_concepts else ()
    kinds = None if embedded.kinds is None else embedded.kinds[0]
    line = Line(text, named, scores, kinds=kinds)
    if embedded.tokens and scores.by_tokens:
        line = replace(line, states=embedded.tokens[-1], usual=embedded.usual)
    return (line,)


@compute_only
def score_asked_lines(
    mind: Mind,
    context: RecallContext,
    embedded: EmbeddedQuery,
    params: FusionParams,
) -> tuple[Line, ...]:
    """Each of `context.query.asked_lines` with how well the texts fit it alone."""
    vectors, states = embedded.line_vectors, embedded.line_tokens
    out = []
    for index, text in enumerate(context.query.asked_lines):
        concepts = tuple(mind.names.spot(text))
        query = RecallQuery(((text, 1.0),), ((text, 1.0),))
        own = replace(context, query=query, named_concepts=((concepts, 1.0),))
        vector = None if vectors is None else vectors[index : index + 1]
        cosines = start_cosines(mind, query, vector)
        scores = score_texts(mind, own, cosines, params)
        kinds = None if embedded.kinds is None else embedded.kinds[index + 1]
        line = Line(text, concepts, scores, kinds=kinds)
        if states:
            late = interact(mind, own, scores, QueryTokens(((states[index], 1.0),)))
            usual = embedded.line_usual[index]
            line = replace(line, scores=late or scores, states=states[index], usual=usual)
        out.append(line)
    return tuple(out)


@compute_only
def names_somebody(mind: Mind, context: RecallContext) -> bool:
    """Whether the newest text names a known concept, speakers left out."""
    if not context.named_concepts:
        return False
    named, _ = context.named_concepts[-1]
    return not all(speaks(mind, key) for key in named)


@compute_only
def without_noise(
    mind: Mind, query: RecallQuery, vectors: NDArray[np.float32] | None
) -> NDArray[np.float32] | None:
    """`vectors`, or None where the query is nothing but words that few texts have, and no plain chat line.

    The sentence vector of a made-up word says nothing; then words alone decide.
    """
    for text, _ in query.word_parts:
        tokens = list(dict.fromkeys(mind.tokeniser.tokens(text)))
        if not _is_keyword(mind, tokens, world_words(world_language(text))):
            return vectors
    return None if query.word_parts else vectors


def _is_keyword(mind: Mind, tokens: Sequence[str], world: WorldWords) -> bool:
    """Whether a text is nothing but words that few texts of the soul have, and no plain chat line."""
    few = max(_FEW_TEXTS, _FEW * len(mind.words))
    are_rare = all(0 < count <= few for count in mind.words.frequencies(tokens))
    return bool(tokens) and are_rare and not any(map(world.holds, tokens))
