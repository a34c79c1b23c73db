"""Names of drafted concepts in a query, and further names of the things that the query names.

What texts are linked to must not depend on what a language model drafted (promise 2); what a recall looks for
may. Compute thread only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from soulmem.domain.ids import MemoryId
from soulmem.domain.memories import Origin
from soulmem.engine.mind.mind import Mind
from soulmem.engine.recall.context import RecallContext, RecallQuery
from soulmem.engine.recall.decision import speaks
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.fact_validity import FactValidities, joins_names
from soulmem.language.name_tokens import fold

_MOST_RENAMED = 2  # lines: each is embedded and judged


@compute_only
def with_other_names(mind: Mind, query: RecallQuery) -> RecallQuery:
    """The query with its newest line once more for each whom it names, by the name that memories say most.

    What is known under a former name is found by no word of the line. Those who talk are in every line.
    """
    if not query.word_parts:
        return query
    text, _ = query.word_parts[-1]
    renamed = []
    for concept in mind.names.spot(text):
        other = _renamed(mind, text, mind.names.names_of(concept))
        if other is not None and not speaks(mind, concept):
            renamed.append(other)
    return replace(query, renamed=tuple(renamed[:_MOST_RENAMED]))


def _renamed(mind: Mind, text: str, names: Sequence[str]) -> str | None:
    """The text with the other name that most memories say in place of its own; None where they say no other."""
    spelled = chain.from_iterable((name, name.lower()) for name in names)
    said = sorted({name for name in spelled if name in text}, key=len, reverse=True)
    tokens = {name: mind.tokeniser.tokens(name) for name in names}
    used = set(chain.from_iterable(map(mind.tokeniser.tokens, said)))
    others = {
        name: min(mind.words.frequencies(tokens[name]))
        for name in names
        if tokens[name] and used.isdisjoint(tokens[name])
    }
    best = max(others, key=lambda name: (others[name], name), default="")
    if not said or not others.get(best):
        return None
    for name in said:
        text = text.replace(name, best)
    return text


@compute_only
def with_drafted_names(mind: Mind, context: RecallContext) -> RecallContext:
    """The context with the usable drafted concepts that its query names.

    Where texts are linked to another concept of that name, no walk starts from the drafted one. But other names of
    a thing are always searched for in texts.
    """
    if not joins_names(mind):
        return context
    drafts = mind.drafted.index
    standings = FactValidities(mind, context.accessible, context.request.chat)
    named, other_names = [], dict[str, float]()
    for text, share, concepts in context.named_by_part():
        drafted = [key for key in drafts.find(text) if standings.is_accessible(key)]
        new = [key for key in drafted if _is_new(mind, mind.memories[key].text)]
        joined: dict[MemoryId, None] = {}
        for key in (*concepts, *drafted):
            for other in standings.alias_concepts(key):
                memory = mind.memories[other]
                name = memory.text
                other_names[name] = max(other_names.get(name, 0.0), share)
                if memory.origin is not Origin.MODEL and other not in concepts:
                    joined[other] = None  # what texts are linked to
        named.append(((*concepts, *joined, *new), share))
    return replace(
        context,
        named_concepts=tuple(named),
        other_names=tuple(other_names.items()),
    )


def _is_new(mind: Mind, name: str) -> bool:
    """Whether only drafts have the name."""
    folded = fold(name)
    if mind.names.is_taken(folded) or mind.name_counts.is_speaker(folded):
        return False
    return not mind.names.index.find(name)
