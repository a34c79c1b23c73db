"""What is asked for and the soul has never heard of: said, so that nobody has to make it up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from soulmem.engine.mind.kind_table import SURE
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, in_other_script
from soulmem.engine.recall.decision import Judged, JudgedLine, Line
from soulmem.engine.runtime.worker import compute_only
from soulmem.language.chinese import SURNAMES
from soulmem.language.chinese_names import asked_names, is_person_like
from soulmem.language.kinds.line_kinds import KINDS, lines_of
from soulmem.language.name_tokens import fold
from soulmem.language.names import names
from soulmem.language.questions import only_raises

_MOST = 3  # names of one answer
_QUESTION = KINDS.index("question")
_MARKS = ("?", "\uff1f", "\u061f")  # that end a question: Latin, wide, Arabic


@compute_only
def with_absences(mind: Mind, context: RecallContext, judged: Judged) -> Judged:
    """The same with the names that each line asks for and that no memory of the soul says, as they are written.

    A line that asks only for those of whom not even a question is kept calls for nothing: what is like it is of
    others.
    """
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    out: list[JudgedLine] = []
    for each in judged.lines:
        line = each.line
        if line.text not in found:
            found[line.text] = _absent_of(mind, context, line)
        unknown, calls_for_others = found[line.text]
        if not calls_for_others:
            # In another script the name is written otherwise.
            other = in_other_script(mind, mind.tokeniser.tokens(line.text))
            is_read = np.zeros(len(each.rows)) if other is None else other[each.rows]
            calls = each.calls if is_read.any() else 0.0
            plain = np.ones(len(each.rows))
            each = replace(each, memory=each.memory * is_read, calls=calls, value=plain)
        out.append(replace(each, absent=unknown))
    return replace(judged, lines=tuple(out))


def _absent_of(mind: Mind, context: RecallContext, line: Line) -> tuple[tuple[str, ...], bool]:
    """The unknown names that a line plainly asks for, and whether it calls for anything else.

    A line that only brings a name up may be a proposal: nothing is said of such a name.
    """
    asked = dict.fromkeys(_asked_names(line))
    unknown = [n for n in asked if not _is_known(mind, context, n, line.text)]
    plain = tuple(n for n in unknown if _is_plainly_asked(n, line.text, asked))
    if not unknown or len(lines_of(line.text)) > 1:
        return plain, True
    others = (n for n in asked if n not in unknown and not _talks(mind, n))
    heard = (_is_known(mind, context, n, line.text, in_questions=True) for n in unknown)
    return plain, any(others) or any(heard)


def _is_plainly_asked(name: str, text: str, asked: Iterable[str]) -> bool:
    """Whether a sentence of the text asks something of the name, rather than bringing it up."""
    sentences = (sentence for sentence in lines_of(text) if name in sentence)
    return not all(only_raises(sentence, asked) for sentence in sentences)


def _talks(mind: Mind, name: str) -> bool:
    """Whether it is the name of the soul or of somebody who talks in its chats."""
    is_own = name.casefold() in mind.soul.name.casefold()
    return is_own or mind.name_counts.is_speaker(fold(name))


def absent_names(judged: Judged) -> tuple[str, ...]:
    """The names that the moment asks for and that nothing is known of."""
    every = chain.from_iterable(line.absent for line in judged.lines)
    return tuple(dict.fromkeys(every))[:_MOST]


def _asked_names(line: Line) -> Iterator[str]:
    """The names in those sentences of a line that ask; a line of one sentence needs no mark for that."""
    if line.kinds is None or line.kinds[_QUESTION] < SURE:
        return
    sentences = lines_of(line.text)
    for sentence in sentences:
        is_marked = sentence.rstrip(' *_~"\u201d\u300d)\uff09').endswith(_MARKS)
        if is_marked or len(sentences) == 1:
            found = dict.fromkeys((*asked_names(sentence), *names(sentence)))
            yield from (n for n in found if not any(n in o and n != o for o in found))


def _is_known(
    mind: Mind,
    context: RecallContext,
    name: str,
    asked: str,
    *,
    in_questions: bool = False,
) -> bool:
    """Whether the soul, or what stands in the prompt, says a name, not only in a question unless `in_questions`.

    Of a family name that is written together with a given name the latter is enough, but not behind another.
    """
    if mind.names.spot(name) or _talks(mind, name):
        return True
    folded, others = name.casefold(), ""
    if is_person_like(name) and len(name) > 2:
        folded, others = folded[1:], "".join(sorted(SURNAMES - {name[0]}))
    said_as = _said_as(folded, others)
    said = (text for text in context.prompt_texts if asked not in text)
    if any(said_as.search(text.casefold()) for text in said):
        return True
    tokens = mind.tokeniser.tokens(folded)
    rarest = min(tokens, key=mind.words.frequency, default=None)
    if rarest is None:
        return True
    rows = [row for row in mind.words.rows(rarest).tolist() if context.accessible[row]]
    asks = mind.line_kinds.scores(rows)[:, _QUESTION] >= SURE
    texts = zip(mind.texts_at(rows), asks.tolist(), strict=True)
    return any(
        (not is_asked or (in_questions and asked not in text))
        and said_as.search(text.casefold()) is not None
        for text, is_asked in texts
    )


def _said_as(name: str, others: str) -> re.Pattern[str]:
    """A name, but not behind one of the other signs."""
    behind = f"(?<![{re.escape(others)}])" if others else ""
    return re.compile(behind + re.escape(name))
