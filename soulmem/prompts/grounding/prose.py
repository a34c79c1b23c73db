"""What prose did a model answer, and how much of it does the passage bear out?"""

from __future__ import annotations

import re
from typing import Any

from soulmem.domain.drafts import Passage
from soulmem.domain.llm import Unreadable
from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.grounding.faithfulness import Faithfulness
from soulmem.prompts.reading import fields
from soulmem.prompts.reading.lenient_json import Partial
from soulmem.prompts.reading.replies import read_object
from soulmem.prompts.reading.unwrapping import answer_of, fenced

# Politeness before and after an answer in plain text, each a line or a sentence of its own.
_CHATTER = re.compile(
    r"^\s*(?:sure|certainly|of course|okay|ok|here(?:'s| is| are)|(?:new )?summary|digest|let me know|i hope"
    r"|好的|当然|没问题|以下是|这是|新的?摘要|摘要|综述|希望)(?![a-z])",
    re.I,
)
_HEADING = re.compile(
    r"^\s*(?:#+\s*|\*\*)?(?:the )?(?:new |updated )?(?:summary|digest|新?的?摘要|综述)"
    r"(?:\*\*)?\s*[:：]\s*(?:\*\*)?\s*",
    re.I,
)


def prose_of(text: str, key: str, passage: Passage, longest: int) -> str:
    """What stands under `key`, or the bare sentences of an answer, on one line of at most `longest` signs.
    Sentences that name somebody unknown, say what the lines do not, or come twice are left out.

    Raises Unreadable.
    """
    prose = fields.text(_said(text, key, longest), longest)
    if prose is None:
        raise Unreadable(f"no text under {key!r}, or not one whole sentence")
    grounds = Grounds(passage)
    if grounds.is_foreign(prose):
        raise Unreadable(f"a {key} in another script than the chat's")
    kept = Faithfulness(passage).kept(grounds.honest(prose)).text
    if not kept:
        raise Unreadable(f"a {key} of what the chat does not say")
    return kept


def _said(text: str, key: str, longest: int) -> Any:
    """What stands under the key, or the prose of an answer without JSON."""
    body = fenced(answer_of(text))
    try:
        return read_object(text, (key,))[key]
    except Unreadable:
        if body.lstrip().startswith(("{", "[")):
            raise
    lines = [_HEADING.sub("", line) for line in body.splitlines()]
    kept = [line for line in lines if line.strip() and not _CHATTER.match(line)]
    prose = " ".join(fields.text(line, longest) or "" for line in kept)
    # What ends in the middle of a sentence, after whole ones, was cut short.
    return Partial(prose) if any(mark in prose for mark in ".!?。！？…") else prose
