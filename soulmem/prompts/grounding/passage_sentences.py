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
    out: list[Sentence] = []
    for line in passage.lines:
        out += _of(line)
    return tuple(out)


def _of(line: PassageLine) -> Iterator[Sentence]:
    has_quotes = any(part.group(2) for part in _PARTS.finditer(line.text))
    position = 0
    for part in _PARTS.finditer(line.text):
        yield from _split(line, line.text[position : part.start()], has_quotes)
        yield from _split(
            line, part.group(1) or part.group(2), part.group(1) is not None
        )
        position = part.end()
    yield from _split(line, line.text[position:], has_quotes)


def _split(line: PassageLine, text: str, narrated: bool) -> Iterator[Sentence]:
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        if sentence.strip(".!?。！？… "):
            yield Sentence(
                line.number,
                line.speaker,
                sentence,
                narrated,
                _ASKS.search(sentence) is not None,
            )
