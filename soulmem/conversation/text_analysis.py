"""What a text tells besides its words: topics, names, place, feelings. One analysis for all souls that hear it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from soulmem.domain.situation import Emotion
from soulmem.domain.terms import Term
from soulmem.language.feelings import feelings
from soulmem.language.keywords import terms
from soulmem.language.markup import PlainText, plain
from soulmem.language.names import names
from soulmem.language.places import place_of
from soulmem.language.scripts import is_unspaced
from soulmem.language.segmentation import sentences
from soulmem.language.story.leaving_out import story_text

_OPENING = " \t*_~\"'\u201c\u2018\u300c\u300e"
# What follows a name that is spoken to, not of.
_ADDRESSED = (*",\uff0c\u3001:\uff1a!\uff01?\uff1f\u2026\u2014", "...", " -")


@dataclass(frozen=True, slots=True)
class TextAnalysis:
    """Of the text alone, for any listener."""

    terms: tuple[Term, ...]
    names: tuple[str, ...]  # new or known, as written
    location: str | None
    moved: tuple[str, ...]  # the sentences that tell of a feeling

    def felt_by(self, name: str) -> tuple[Emotion, ...]:
        """What the text says that somebody of that name feels: in sentences that begin with the name."""
        return _felt(s for s in self.moved if _is_about(s, name))

    def felt_by_speaker(self, others: Iterable[str]) -> tuple[Emotion, ...]:
        """The feelings of the speaker: of the sentences that are about none of these others."""
        names = tuple(others)
        return _felt(s for s in self.moved if not _is_about_any(s, names))


def read(text: str) -> TextAnalysis:
    """Read a text: some 0.3 ms for a turn of 500 signs."""
    words = plain(text)
    parts = map(PlainText, sentences(words) if feelings(words) else ())
    moved = tuple(filter(feelings, parts))
    return TextAnalysis(terms(words), names(words), place_of(words), moved)


def _felt(parts: Iterable[str]) -> tuple[Emotion, ...]:
    return tuple(Emotion(*f) for f in feelings(PlainText(" ".join(parts))))


def _is_about_any(sentence: str, names: Iterable[str]) -> bool:
    return any(_is_about(sentence, name) for name in names)


def _is_about(sentence: str, name: str) -> bool:
    """Whether it begins with the name, and does not only speak to them."""
    begins = sentence.lstrip(_OPENING)
    behind = begins[len(name) :]
    whole = is_unspaced(name[-1:]) or not behind[:1].isalnum()
    return bool(name) and begins.startswith(name) and whole and not behind.startswith(_ADDRESSED)


class TextAnalyses:
    """Texts analysed before a change, so that the change itself does not wait for it."""

    def __init__(self) -> None:
        self._analyses: dict[str, TextAnalysis] = {}

    def of(self, text: str) -> TextAnalysis:
        """The analysis of the text; made at once unless it was made before."""
        return self._analyses.get(text) or read(text)

    def ahead(self, texts: Iterable[str]) -> None:
        """Analyse the stories of these and keep that until `forget`. Safe in any thread, but in one at a time."""
        for text in (story_text(text).text for text in texts):
            if text not in self._analyses:
                self._analyses[text] = read(text)

    def forget(self) -> None:
        """Drop all analyses: the change is done."""
        self._analyses = {}
