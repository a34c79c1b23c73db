"""The climb of a recall: from the texts alone by memory vectors to a walk, until it is enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from soulmem.domain.ids import MemoryId
from soulmem.domain.phrases import Phrase, phrase
from soulmem.engine.api.requests import RecallMode
from soulmem.engine.api.results import Grade
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.activation import TermActivation
from soulmem.engine.recall.brought import brought_by
from soulmem.engine.recall.context import RecallContext, TextScores
from soulmem.engine.recall.decision import Judged, Line
from soulmem.engine.recall.expansion import (
    Expansion,
    ExpansionParams,
    VectorExpansion,
    expand,
    no_expansion,
    vector_expansion,
)
from soulmem.engine.recall.vector_expansion import VectorMatch
from soulmem.engine.recall.walks import Walks
from soulmem.engine.runtime.worker import compute_only
from soulmem.language.keywords import terms
from soulmem.retrieval.best import best_rows
from soulmem.retrieval.fusion import standardised, stands_out

# A part is plainly answered by a text that has all its words, so many at least, if no other text has them and
# it is the best by its text score: so many standard deviations above what memories usually score, and so many
# before the next. On LoCoMo (2 conversations, 302 questions) that ends nine, and loses none that the walk finds.
_LEAST_WORDS = 3
_FAR = 7.0
_AHEAD = 1.5
_NO_QUERY = phrase("climb_no_query", "nothing was said")
_ALL = phrase("climb_all", "this character tells all that comes to mind")
_GIVEN = phrase("climb_given", "a time, an intent or tags were given")
_SMALL_TALK = phrase("climb_small_talk", "nothing of it calls for a memory")
_PLAIN = phrase("climb_plain", "a memory has all words of the question")
_ASKED_FOR = phrase("climb_asked_for", "as far as was asked for")
_ASKED_ON = phrase("climb_asked_on", "a further step was asked for")
# Least evidence of a memory vector that other lines hardly ever reach, and that a line says what was taught.
_LIKELY = 0.2
_SURE = 0.5
_TAUGHT = phrase("climb_taught", "it is like a line that a memory was useful for")
_NOT_OPENED = phrase("climb_not_opened", "nothing like it has brought a memory before")


@dataclass(frozen=True, slots=True)
class Climb:
    """The grade that a recall reached, and its result."""

    grades: tuple[Grade, ...]
    expansion: Expansion

    @property
    def milliseconds(self) -> float:
        """The time of the grades beyond the baseline."""
        return sum(grade.ms for grade in self.grades[1:])


@compute_only
def baseline_grade(
    mind: Mind,
    context: RecallContext,
    scores: TextScores,
    asked_lines: Sequence[Line],
    match: VectorMatch,
    judged: Judged,
    began: float,
) -> Grade:
    """Whether the texts alone are enough.

    began  when the comparison of texts did, by `time.perf_counter`
    """
    mode = context.request.mode
    if mode is RecallMode.AUTO:
        call = _call(context, match, judged)
        enough, why = _enough_by_text(mind, context, scores, asked_lines, call)
    else:
        enough = mode is RecallMode.BASELINE
        why = _ASKED_FOR if enough else _ASKED_ON
    return Grade(RecallMode.BASELINE.value, enough, why, _since(began))


def _call(context: RecallContext, match: VectorMatch, judged: Judged) -> Phrase | None:
    """The reason, in words, why a memory is called for; None where none is."""
    if context.restraint == 0.0:
        return _ALL
    if judged.sure:
        return _GIVEN
    if judged.is_called:
        return phrase(
            "climb_called",
            "such lines call for a memory {percent} times in 100",
            percent=round(100 * judged.calls),
        )
    taught = bool(match.wanted) or max(match.evidence, default=0.0) >= _LIKELY
    return _TAUGHT if taught else None


@compute_only
def climb(
    mind: Mind,
    walks: Walks,
    context: RecallContext,
    scores: TextScores,
    params: ExpansionParams,
    baseline: Grade,
    match: VectorMatch,
    judged: Judged,
    asked_lines: Sequence[Line] = (),
    activation_result: Callable[[], TermActivation | None] | None = None,
) -> Climb:
    """Go on from the baseline as far as it takes, or as the request asks for."""
    called = {way.row: way.score for way in match.wanted}
    called.update(islice(judged.called_rows().items(), context.max_items))
    brought = (*match.wanted, *brought_by(mind, context, called, judged.asked_rows()))
    if baseline.enough:
        return Climb((baseline,), replace(no_expansion(mind), opened=brought))
    mode, grades = context.request.mode, [baseline]
    began = time.perf_counter()
    vectors = vector_expansion(mind, walks, context, scores, match, params.vectors)
    if mode is RecallMode.AUTO:
        enough, why = _enough_by_vectors(context, vectors)
        grades.append(Grade(RecallMode.EXPAND.value, enough, why, _since(began)))
        if enough:
            opened = (*vectors.opened, *brought)
            expansion = replace(no_expansion(mind), opened=opened)
            return Climb(tuple(grades), expansion)
        began = time.perf_counter()
    expansion = expand(
        mind, walks, context, scores, params, vectors, activation_result, asked_lines
    )
    expansion = replace(expansion, opened=(*expansion.opened, *brought))
    name = RecallMode.WALK if mode is RecallMode.AUTO else mode
    enough, why = _enough_by_walk(mode, context, scores, asked_lines, expansion)
    grades.append(Grade(name.value, enough, why, _since(began)))
    return Climb(tuple(grades), expansion)


def _enough_by_text(
    mind: Mind,
    context: RecallContext,
    scores: TextScores,
    asked_lines: Sequence[Line],
    call: Phrase | None,
) -> tuple[bool, Phrase]:
    """Whether nothing is called for, or all that is asked stands in the texts; and why."""
    if not context.query.embed_parts:
        return True, _NO_QUERY
    if call is None:
        return True, _SMALL_TALK
    if not context.guidance.careful or context.asked_time is not None:
        return False, call
    if not asked_lines:
        text = "\n".join(context.guidance.parts)
        plain = _is_answered(mind, context, text, context.concepts, scores)
        return plain, _PLAIN if plain else call
    plain = all(
        _is_answered(mind, context, part.text, part.concepts, part.scores) for part in asked_lines
    )
    if not plain:
        return False, call
    return True, phrase(
        "climb_plain_parts",
        "each of the {parts} questions has a memory with all its words",
        parts=len(asked_lines),
    )


def _is_answered(
    mind: Mind,
    context: RecallContext,
    text: str,
    concepts: Sequence[MemoryId],
    scores: TextScores,
) -> bool:
    """Whether the best text for a question has all its names and words, and no other does."""
    keys = [key for key, _ in mind.terms.keys(terms(text), concepts)]
    numbers = [mind.terms.incidence.number(key) for key in keys]
    if len(keys) < _LEAST_WORDS or None in numbers:
        return False
    wanted = np.unique(np.asarray(numbers, np.int64))
    _, rows = mind.terms.incidence.rows_of(wanted, context.visible)
    candidates, count = np.unique(rows, return_counts=True)
    whole = candidates[count == wanted.size]
    best = best_rows(scores.score, 2)
    if best[:1].tolist() != whole.tolist():
        return False
    score = standardised(scores.score, context.visible, best)
    second = float(score[1]) if score.size > 1 else 0.0
    return float(score[0]) >= max(_FAR, second + _AHEAD)


def _enough_by_vectors(context: RecallContext, vectors: VectorExpansion) -> tuple[bool, Phrase]:
    """Whether a remark without a name opens the memory that it surely means; and why."""
    opened = [way for way in vectors.opened if context.visible[way.row]]
    if not opened:
        return False, _NOT_OPENED
    sure = opened[0].score >= _SURE
    if sure and not context.guidance.careful and not context.concepts:
        return True, phrase(
            "climb_opened_sure",
            "{memories} memories came for a line like this one before",
            memories=len(opened),
        )
    return False, phrase(
        "climb_opened",
        "{memories} memories came for lines nearly like this one before",
        memories=len(opened),
    )


def _enough_by_walk(
    mode: RecallMode,
    context: RecallContext,
    scores: TextScores,
    asked_lines: Sequence[Line],
    expansion: Expansion,
) -> tuple[bool, Phrase]:
    """Whether each part has a memory that stands out by its text, or that the walk reached; and why."""
    if mode is not RecallMode.AUTO:
        return True, _ASKED_FOR
    compared = [part.scores for part in asked_lines] or [scores]
    missing = sum(not stands_out(part.score, context.visible) for part in compared)
    reached = 0 if expansion.walk is None else expansion.walk.walk.rows.size
    reach = (
        phrase("climb_walked", "{memories} memories by links", memories=reached)
        if reached
        else phrase("climb_no_link", "no link to follow")
    )
    if missing:
        return False, phrase(
            "climb_unanswered",
            "{reach}; for {missing} of {parts} parts none stands out",
            reach=reach,
            missing=missing,
            parts=len(compared),
        )
    return True, phrase(
        "climb_answered",
        "{reach}; for each part of the query a memory stands out",
        reach=reach,
    )


def _since(began: float) -> float:
    """Milliseconds since then."""
    return 1000 * (time.perf_counter() - began)
