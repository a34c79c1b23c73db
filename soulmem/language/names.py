"""Which names does a text give? By how it writes them: capitals, book marks, family names, titles after."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from soulmem.language import chinese, spaced_words
from soulmem.language.base_forms import JOINTS, is_english_word
from soulmem.language.capitalised_words import (
    ADDRESSES,
    CALENDAR,
    EXCLAIMED,
    OF_PLACES,
    TONGUES,
)
from soulmem.language.function_words import CHINESE, CHINESE_SIGNS
from soulmem.language.markup import plain
from soulmem.language.scripts import HAN
from soulmem.language.word_lists import signs, words

_MOST = 12  # of one text
_MOST_WORDS = 5  # of one name
_HEADLINE = 6  # words, of which most have capitals: a title marks no names by them

_MARKED = re.compile(
    r"《([^《》\n]{1,20})》|『([^『』\n]{1,12})』|「([^「」\n]{1,6})」"
)
_QUOTED = re.compile(r"(?<=[\w,] )[\"\u201c]([A-Z][\w'\u2019 -]{1,40})[\"\u201d]")
_CALLED = re.compile(
    rf"([{HAN}]{{1,4}}|[\u30a1-\u30fa\u30fc]{{2,10}})(?:さん|くん|ちゃん|さま|殿)"
)
_SENTENCE_SIGNS = re.compile("[。，！？、；：…,.!?;:~～]")
_SENTENCE = re.compile(r"[^\n。！？!?…]+")
_KANA = re.compile("[\u3041-\u3096]")
_HAN_RUN = re.compile(f"[{HAN}]+")
_GIVEN = frozenset(("nr", "nrt", "nrfg"))
_FAMILIAR = frozenset(signs("zh", "names", "familiar"))
_NO_GIVEN_NAME = frozenset(signs("zh", "names", "no_given_name"))
_KIN = frozenset(signs("zh", "names", "kin"))
_DOUBLE = words("zh", "names", "double_surnames")


def names(text: str) -> tuple[str, ...]:
    """The names that a text gives, as written, at most a dozen: a function of the text alone.

    Who counts as known already is not looked at, nor who speaks.
    """
    said = plain(text)
    found = dict.fromkeys(_in_order(said))
    return tuple(found)[:_MOST]


def is_person_like(name: str) -> bool:
    """Whether a name in Chinese signs reads like a person's: a family name and one or two signs."""
    if _HAN_RUN.fullmatch(name) is None:
        return False
    return (2 <= len(name) <= 3 and name[0] in chinese.SURNAMES) or (
        3 <= len(name) <= 4 and name.startswith(_DOUBLE)
    )


def is_double(name: str) -> bool:
    """Whether its family name has two signs."""
    return len(name) > 2 and name.startswith(_DOUBLE)


def _in_order(said: str) -> Iterator[str]:
    yield from _spaced(spaced_words.words(said))
    yield from _quoted(said)
    if said.isascii():
        return
    yield from _marked(said)
    for match in _CALLED.finditer(said):
        yield match[1]
    for sentence in _SENTENCE.findall(said):
        if not _KANA.search(sentence):
            for run in _HAN_RUN.findall(sentence):
                yield from _chinese(run)


def _quoted(said: str) -> Iterator[str]:
    for match in _QUOTED.finditer(said):
        words = match[1].split()
        if len(words) <= _MOST_WORDS and all(
            w[0].isupper() or w.lower() in JOINTS for w in words
        ):
            yield from _worth([w.strip("'\u2019") for w in words])


def _marked(said: str) -> Iterator[str]:
    """Titles of works, and what else stands in corner brackets unless it is said."""
    for match in _MARKED.finditer(said):
        title, *quoted = (group and group.strip() for group in match.groups())
        if title:
            yield title
        for name in filter(None, quoted):
            spoken = (
                _SENTENCE_SIGNS.search(name)
                or _KANA.search(name)
                or name[0] in CHINESE_SIGNS
            )
            if not spoken and name not in CHINESE:
                yield name


def _spaced(found: Sequence[spaced_words.Word]) -> Iterator[str]:
    capitals = sum(word.capital for word in found)
    if len(found) >= _HEADLINE and capitals > 0.7 * len(found):
        return
    runs = dict(spaced_words.names(found))
    at = 0
    while at < len(found):
        stop = runs.get(at)
        if stop is not None:
            first = at + 1 if _merely_starts(found[at:stop]) else at
            yield from _worth([w.raw for w in found[first:stop]])
        elif found[at].capital and found[at].starts and _is_invented(found[at].raw):
            yield found[at].raw
        at = stop or at + 1


def _merely_starts(run: Sequence[spaced_words.Word]) -> bool:
    """Whether the first word owes its capital to its place: in `Poor Kaelith`, not in `Captain Kaelith`."""
    if len(run) < 2 or not run[0].starts or not _is_invented(run[1].raw):
        return False
    low = run[0].raw.lower()
    return (
        low not in ADDRESSES
        and low not in OF_PLACES
        and not _is_invented(run[0].raw)
        and low.isalpha()
    )


def _worth(words: list[str]) -> Iterator[str]:
    """The name that these words are, if any: without what is no name at its ends."""
    while words and (
        words[0].lower() in CALENDAR | EXCLAIMED
        or spaced_words.is_stop(words[0].lower())
    ):
        words = words[1:]
    while words and (
        words[-1].lower() in CALENDAR or spaced_words.is_stop(words[-1].lower())
    ):
        words = words[:-1]
    if not words or len(words) > _MOST_WORDS:
        return
    alone = words[0].lower() if len(words) == 1 else ""
    if (
        alone in ADDRESSES
        or alone in TONGUES
        or (alone and (len(alone) < 2 or not alone[0].isalpha()))
    ):
        return
    yield " ".join(words)


def _is_invented(word: str) -> bool:
    """Whether no dictionary has the word, so that its capital marks a name even where a sentence starts."""
    low = word.lower()
    if (
        spaced_words.is_stop(low)
        or low in ADDRESSES | CALENDAR | EXCLAIMED
        or len(low) < 3
        or not low.isascii()
    ):
        return False
    return low.isalpha() and not word.isupper() and not is_english_word(low)


def _chinese(run: str) -> Iterator[str]:
    """Names in a run of Chinese: family name and given name, and what the dictionary knows as a name."""
    loose = ""
    for word, tag in chinese.dictionary().tag(run, hmm=False):
        if len(word) == 1 and word not in CHINESE_SIGNS:
            loose += word
            continue
        yield from _loose(loose)
        loose = word if word in _DOUBLE else ""
        if loose or len(word) == 1 or word in CHINESE:
            continue
        familiar = word[0] in _FAMILIAR and len(word) == 2 and word[1] not in _KIN
        if tag == "ns" or (
            tag in _GIVEN and (familiar or (len(word) > 2 and is_person_like(word)))
        ):
            yield word
    yield from _loose(loose)


def _loose(run: str) -> Iterator[str]:
    if is_person_like(run) and run[1] not in _NO_GIVEN_NAME:
        yield run
