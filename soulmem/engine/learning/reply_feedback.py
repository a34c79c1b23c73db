"""What a kept reply and the message after it say of the memories that were recalled for the reply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import log

from soulmem.domain.dialogue import Message, Role
from soulmem.domain.ids import MemoryId
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.language.segmentation import sentences
from soulmem.language.word_lists import alternatives, words

_FIRST = 2  # sentences of a message that are looked at: later ones are about something else
_CORRECTION = re.compile(
    rf"(?:{alternatives(words('en', 'corrections', 'openings'))})\b"
    rf"|{alternatives(words('zh', 'corrections', 'openings'))}",
    re.IGNORECASE,
)
# What may stand around an action before the words that are said.
_ACTIONS = {"*": "*", "(": ")", "\uff08": "\uff09"}


def is_correction(text: str) -> bool:
    """Whether one of the first sentences denies what was said before."""
    plain = text.replace("\u2019", "'")
    return any(_CORRECTION.match(_spoken(part)) for part in sentences(plain)[:_FIRST])


def _spoken(sentence: str) -> str:
    """The sentence from its first word on that is no action."""
    rest = sentence.strip()
    while rest and not rest[0].isalnum():
        end = rest.find(_ACTIONS.get(rest[0], ""), 1)
        is_action = rest[0] in _ACTIONS and end > 0
        rest = rest[end + 1 if is_action else 1 :].lstrip()
    return rest


_BEFORE = 4  # messages before the reply: what they say is no sign that a memory was used
# Least share, by idf, of what only the memory says that the reply says too, and so many words at least.
_SHARE = 0.3
_WORDS = 2


class Sign(Enum):
    """What became of a recalled memory."""

    USED = "used"  # the reply says what only the memory says
    CORRECTED = "corrected"  # that too, and the next message denies it


@dataclass(frozen=True, slots=True)
class ReplyContext:
    """The texts of a reply, of the messages before it and of the user's next message, if there is one."""

    before: tuple[str, ...]
    reply: str
    answer: str = ""


def reply_context(messages: Sequence[Message], position: int) -> ReplyContext:
    """The context of the reply at that position of a chat."""
    before = messages[max(0, position - _BEFORE) : position]
    after = messages[position + 1 : position + 2]
    answer = next((m.text for m in after if m.role is Role.USER), "")
    return ReplyContext(tuple(message.text for message in before), messages[position].text, answer)


@compute_only
def signs(mind: Mind, memories: Iterable[MemoryId], context: ReplyContext) -> dict[MemoryId, Sign]:
    """What the reply and its answer say of these memories; memories that they do not touch are left out."""
    said = set(mind.tokeniser.tokens(context.reply))
    known = {token for text in context.before for token in mind.tokeniser.tokens(text)}
    used = [key for key in memories if _is_used(mind, mind.text_of(key), said, known)]
    is_denied = bool(used) and is_correction(context.answer)
    return dict.fromkeys(used, Sign.CORRECTED if is_denied else Sign.USED)


def _is_used(mind: Mind, text: str, said: set[str], known: set[str]) -> bool:
    own = set(mind.tokeniser.tokens(text)) - known
    weights = _rarities(mind, list(own))
    repeated = own & said
    total = sum(weights.values())
    share = sum(weights[token] for token in repeated) / total if total else 0.0
    return len(repeated) >= _WORDS and share >= _SHARE


def _rarities(mind: Mind, tokens: Sequence[str]) -> dict[str, float]:
    """The idf of each token in this soul, > 0."""
    counts = zip(tokens, mind.words.frequencies(tokens), strict=True)
    texts = len(mind.words) + 2
    return {token: log(texts / (count + 1)) for token, count in counts}
