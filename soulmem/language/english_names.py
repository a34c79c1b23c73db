"""Names of English texts, by their capitals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from soulmem.language.base_forms import JOINTS, is_english_word
from soulmem.language.function_words import ENGLISH
from soulmem.language.spaced_words import Word, is_stop, loud_words
from soulmem.language.word_lists import word_set

# Words with a capital that name nobody, or only as a part of a name.
CALENDAR = word_set("en", "capitals", "calendar")
TONGUES = word_set("en", "capitals", "tongues")
EXCLAIMED = word_set("en", "capitals", "exclamations")
ADDRESSES = word_set("en", "capitals", "addresses")  # alone they are no name
OF_PLACES = word_set("en", "capitals", "of_places")

_SHORTEST = 3  # letters of a name that no dictionary has


def english_names(words: Sequence[Word], *, is_sure: bool) -> Iterator[list[str]]:
    """The names of a text in order, each as its words; with repeats.

    is_sure  that it is English: then a word with accents may be a name where a sentence starts, too
    """
    runs = dict(name_runs(words))
    index = 0
    while index < len(words):
        stop = runs.get(index)
        word = words[index]
        if stop is not None:
            start = index + 1 if _merely_starts(words[index:stop]) else index
            yield [w.raw for w in words[start:stop]]
        elif word.starts and word.capital:
            is_readable = is_sure or word.raw.isascii()
            if is_readable and _is_invented(word.raw):
                yield [word.raw]
        index = stop or index + 1


def trimmed(words: Sequence[str]) -> list[str]:
    """A name without what is none at its ends; empty where nothing is left but a form of address."""
    first, last = 0, len(words)
    while first < last and _is_no_start(words[first].lower()):
        first += 1
    while last > first and _is_no_end(words[last - 1].lower()):
        last -= 1
    name = list(words[first:last])
    return [] if len(name) == 1 and _is_no_name(name[0].lower()) else name


def name_runs(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Runs of words, first to after last, that are written as names: with capitals no sentence asks for.

    A word that starts a sentence belongs to one when a capital follows, or when it is a name elsewhere.
    """
    loud = loud_words(words)
    sure = {w.raw for w in words if not w.starts and _is_marked(w, loud)}
    index = 0
    while index < len(words):
        stop = _run_end(words, index, loud)
        is_start_alone = stop == index + 1 and words[index].raw not in sure
        if stop > index and not is_start_alone:
            yield index, stop
            index = stop
        else:
            index += 1


def _is_marked(word: Word, loud: Set[str]) -> bool:
    return word.capital and word.raw not in loud and not is_stop(word.low)


def _run_end(words: Sequence[Word], start: int, loud: Set[str]) -> int:
    """Where the run of capitals ends that begins at `start`; `start` where none does."""
    index = last = start  # `last` is after the last capital
    while index < len(words) and (index == start or words[index].joined):
        word = words[index]
        if _is_marked(word, loud) or (index > last and _is_inner(word, loud)):
            last = index + 1
            if word.possessive:
                break
        elif index == start or word.low not in JOINTS or index - last > 1:
            break
        index += 1
    return last


def _is_inner(word: Word, loud: Set[str]) -> bool:
    """Whether it may be a later word of a name: a noise as in "Duke of Hm" too, but no English word."""
    return word.capital and word.raw not in loud and word.low not in ENGLISH


def _merely_starts(run: Sequence[Word]) -> bool:
    """Whether the first word owes its capital to its place: in `Poor Kaelith`, not in `Captain Kaelith`."""
    if len(run) < 2 or not run[0].starts or not _is_invented(run[1].raw):
        return False
    low = run[0].low
    is_title = low in ADDRESSES or low in OF_PLACES
    return not is_title and low.isalpha() and not _is_invented(run[0].raw)


def _is_invented(word: str) -> bool:
    """Whether no dictionary has the word, so that its capital marks a name even where a sentence starts."""
    low = word.lower()
    if is_stop(low) or low in ADDRESSES | CALENDAR | EXCLAIMED or len(low) < _SHORTEST:
        return False
    return low.isalpha() and not word.isupper() and not is_english_word(low)


def _is_no_start(low: str) -> bool:
    return low in CALENDAR or low in EXCLAIMED or is_stop(low)


def _is_no_end(low: str) -> bool:
    return low in CALENDAR or is_stop(low)


def _is_no_name(low: str) -> bool:
    """Of a word alone."""
    return low in ADDRESSES or low in TONGUES or len(low) < 2 or not low[0].isalpha()
