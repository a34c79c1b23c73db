"""Reads prose that a model wrote about a passage, sentence by sentence."""

from __future__ import annotations

from soulmem.domain.drafts import Passage
from soulmem.domain.llm import Unreadable
from soulmem.domain.phrases import phrase
from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.reading import fields
from soulmem.prompts.reading.replies import read_object


def prose_of(text: str, key: str, passage: Passage, longest: int) -> str:
    """What stands under `key`, on one line of at most `longest` signs.
    Sentences that name somebody unknown, or come twice, are left out.

    Raises Unreadable.
    """
    prose = fields.text(read_object(text, (key,))[key], longest)
    if prose is None:
        raise Unreadable(
            phrase(
                "prose_missing",
                "no text under '{key}', or not one whole sentence",
                key=key,
            )
        )
    grounds = Grounds(passage)
    if grounds.is_foreign(prose):
        raise Unreadable(
            phrase(
                "prose_foreign", "a {key} in another script than the chat's", key=key
            )
        )
    kept = grounds.honest(prose)
    if not kept:
        raise Unreadable(
            phrase("prose_unsaid", "a {key} of what the chat does not say", key=key)
        )
    return kept
