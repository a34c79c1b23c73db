"""What is asked for and the soul has never heard of: said, so that nobody has to make it up."""

from __future__ import annotations

import re
from collections.abc import Iterator

from soulmem.engine.mind.kind_table import SURE
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext
from soulmem.engine.recall.decision import Judged, JudgedLine
from soulmem.engine.runtime.compute_only import compute_only
from soulmem.language.chinese import SURNAMES
from soulmem.language.chinese_names import asked_names, is_person_like
from soulmem.language.kinds.line_kinds import KINDS, lines_of
from soulmem.language.name_tokens import fold
from soulmem.language.names import names

_MOST = 3  # names of one answer
_QUESTION = KINDS.index("question")
_MARKS = ("?", "\uff1f", "\u061f")  # that end a question: Latin, wide, Arabic


@compute_only
def absent_names(mind: Mind, context: RecallContext, judged: Judged) -> tuple[str, ...]:
    """The names that the lines of a moment ask for and that no memory of the soul says, as they are written."""
    texts = {line.line.text: line for line in judged.lines}
    found: dict[str, None] = {}
    for text, line in texts.items():
        names_asked = (n for n in _asked_names(line) if n not in found)
        unknown = (n for n in names_asked if not _is_known(mind, context, n, text))
        found.update(dict.fromkeys(unknown))
    return tuple(found)[:_MOST]


def _asked_names(judged: JudgedLine) -> Iterator[str]:
    """The names in those sentences of a line that ask."""
    kinds = judged.line.kinds
    if kinds is None or kinds[_QUESTION] < SURE:
        return
    for sentence in lines_of(judged.line.text):
        if sentence.rstrip(' *_~"\u201d\u300d)\uff09').endswith(_MARKS):
            found = dict.fromkeys((*asked_names(sentence), *names(sentence)))
            yield from (n for n in found if not any(n in o and n != o for o in found))


def _is_known(mind: Mind, context: RecallContext, name: str, asked: str) -> bool:
    """Whether the soul, or what stands in the prompt, says a name elsewhere than in a question.

    Of a family name that is written together with a given name the latter is enough, but not behind another.
    """
    if mind.names.spot(name) or mind.name_counts.is_speaker(fold(name)):
        return True
    if name.casefold() in mind.soul.name.casefold():
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
        not is_asked and said_as.search(text.casefold()) is not None
        for text, is_asked in texts
    )


def _said_as(name: str, others: str) -> re.Pattern[str]:
    """A name, but not behind one of the other signs."""
    behind = f"(?<![{re.escape(others)}])" if others else ""
    return re.compile(behind + re.escape(name))
