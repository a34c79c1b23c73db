"""Which sentences does a passage say, who says each, and is it speech, narration or a question?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from soulmem.domain.drafts import Passage, PassageLine

_PARTS = re.compile(r"\*([^*]+)\*|[\"“「『]([^\"“”「」『』]+)[\"”」』]")
_SENTENCE = re.compile(r"[^.!?。！？…\n]+(?:[.!?。！？…]+|\n|$)")
_ASKS = re.compile(r"[?？]\s*$|[吗么呢][。…\s]*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a line."""

    line: int  # its number
    speaker: str
    text: str
    narrated: bool  # told of whoever speaks, not said by them: *looks away*, or what stands beside quotes
    asks: bool  # a question states nothing


def sentences(passage: Passage) -> tuple[Sentence, ...]:
    """All of them, in order."""
    return tuple(one for line in passage.lines for one in _of(line))


def _of(line: PassageLine) -> Iterator[Sentence]:
    has_quotes = any(found.group(2) for found in _PARTS.finditer(line.text))
    at = 0
    for found in _PARTS.finditer(line.text):
        yield from _split(line, line.text[at : found.start()], has_quotes)
        yield from _split(
            line, found.group(1) or found.group(2), found.group(1) is not None
        )
        at = found.end()
    yield from _split(line, line.text[at:], has_quotes)


def _split(line: PassageLine, text: str, narrated: bool) -> Iterator[Sentence]:
    for found in _SENTENCE.finditer(text):
        said = found.group().strip()
        if said.strip(".!?。！？… "):
            yield Sentence(
                line.number,
                line.speaker,
                said,
                narrated,
                _ASKS.search(said) is not None,
            )
