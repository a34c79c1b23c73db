"""The inner thought that a reply writes down, where its card wants that. en, zh."""

from __future__ import annotations

import re
from functools import cache

from soulmem.language.word_lists import alternatives, words

_LONGEST = 400  # characters; more is a story, not what somebody means to do
_MARKS = " \t*_~`\"'“”「」()（）[]【】"


@cache
def _labelled() -> re.Pattern[str]:
    """A line, or a bracket within one, that begins with a label: "*Thoughts: I will not tell.*" """
    labels = [
        *map(re.escape, words("en", "inner_thoughts", "labels")),
        *map(re.escape, words("zh", "inner_thoughts", "labels")),
    ]
    label = alternatives(sorted(labels, key=len, reverse=True))
    return re.compile(
        rf"(?:^|[(（\[【])[ \t*_~`\"“「]*(?:{label})[ \t*_~`\"”」]*[:：][ \t]*([^\n)）\]】]+)",
        re.IGNORECASE | re.MULTILINE,
    )


@cache
def _tagged() -> re.Pattern[str]:
    """A text between tags of thought."""
    tag = alternatives(words("en", "inner_thoughts", "tags"))
    return re.compile(rf"<({tag})>([^<>]+)</\1>", re.IGNORECASE)


def inner_thought(text: str) -> str | None:
    """The last inner thought of a reply, without its marks; None where it has none."""
    thoughts = [(match.start(), match[1]) for match in _labelled().finditer(text)]
    thoughts += [(match.start(), match[2]) for match in _tagged().finditer(text)]
    for _, thought in sorted(thoughts, reverse=True):
        bare = thought.strip().strip(_MARKS)
        if bare and len(bare) <= _LONGEST:
            return bare
    return None
