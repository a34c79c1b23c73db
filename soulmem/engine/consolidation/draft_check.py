"""A model that can checks its own drafts: the doubtful ones are asked for again, as statements, in one call.

A line that it names is one more reason to believe a draft; where it finds none half of the confidence goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from soulmem.domain.drafts import DraftEpisode, DraftFact, Drafts, Passage
from soulmem.domain.llm import LlmFailed
from soulmem.engine.llm.calls import LlmCalls, LlmInterrupted, LlmTask
from soulmem.engine.llm.trust import ModelTrust
from soulmem.language.scripts import is_unspaced
from soulmem.prompts import checking

_SURE = 0.8  # confidence from which a draft needs no check
_MOST = 8  # drafts checked in one call
_SHARE = 0.5  # of the doubt, or of the confidence, that an answer takes away


async def checked(
    llm_calls: LlmCalls,
    trust: ModelTrust,
    task: LlmTask,
    passage: Passage,
    drafts: Drafts,
) -> Drafts:
    """The drafts after one call that checks the doubtful ones; as they are where the model cannot, or may not."""
    doubtful = _doubtful(drafts)
    if not doubtful or not trust.is_high(task.owner, task.model):
        return drafts
    statements = [statement_of(draft) for draft in doubtful]
    attempts, task.attempts = task.attempts, 1
    try:
        answers = await llm_calls.ask(
            task,
            checking.render(passage, statements),
            partial(checking.parse, count=len(statements)),
        )
    except (LlmFailed, LlmInterrupted):
        return drafts
    finally:
        task.attempts = attempts
    return with_answers(drafts, doubtful, answers)


def statement_of(draft: DraftEpisode | DraftFact) -> str:
    """The draft as a sentence."""
    if isinstance(draft, DraftEpisode):
        return draft.text
    parts = draft.subject, draft.verb, draft.object
    return ("" if is_unspaced("".join(parts)) else " ").join(parts)


def with_answers(
    drafts: Drafts,
    doubtful: Sequence[DraftEpisode | DraftFact],
    answers: Sequence[int],
) -> Drafts:
    """The drafts with the confidence that the answers leave: for each doubtful one its line, or 0."""
    found = dict(zip(map(id, doubtful), answers, strict=True))

    def confidence(draft: DraftEpisode | DraftFact) -> float:
        line = found.get(id(draft))
        if line is None:
            return draft.confidence
        if line in draft.lines:
            return 1.0 - (1.0 - _SHARE) * (1.0 - draft.confidence)
        return draft.confidence if line else _SHARE * draft.confidence

    return replace(
        drafts,
        episodes=tuple(replace(d, confidence=confidence(d)) for d in drafts.episodes),
        facts=tuple(replace(d, confidence=confidence(d)) for d in drafts.facts),
    )


def _doubtful(drafts: Drafts) -> list[DraftEpisode | DraftFact]:
    """The drafts that a check may settle, the least sure first."""
    every: list[DraftEpisode | DraftFact] = [*drafts.episodes, *drafts.facts]
    doubtful = [draft for draft in every if draft.confidence < _SURE]
    return sorted(doubtful, key=lambda draft: draft.confidence)[:_MOST]
