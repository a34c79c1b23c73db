"""Keys of an English text: words in their base form and short phrases, ranked by shape, place and repetition.

There is no tagger: what stands after an article or a preposition is read as a noun phrase, what differs from
its base form otherwise as a verb. Texts of other languages in scripts with spaces are read the same way, without
the function words that are listed of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from soulmem.language.base_forms import (
    BEFORE_VERBS,
    JOINTS,
    NOUNS_TOO,
    OBJECTS,
    OPENERS,
    PLAIN_ADJECTIVES,
    SINGULAR,
    base_form,
)
from soulmem.language.english_names import name_runs
from soulmem.language.grammars import ENGLISH_CODE, grammar_of, languages_of
from soulmem.language.spaced_words import Word, is_stop

# What kinds of words are worth, 0..1; see tests/language/marked_lines.py for what they are measured by.
NAME, PHRASE, NOUN, WORD, VERB, ADVERB = 1.0, 0.85, 0.8, 0.6, 0.45, 0.3
_LATER = 0.1  # less for the last word than for the first
_LONGEST_PHRASE = 3  # words
_NOUN_ENDINGS = ("s", "men", "children", "feet", "teeth")  # of plurals


def ranked(words: Sequence[Word]) -> Iterator[tuple[str, float]]:
    """Keys with what they are worth, in order of appearance; a repeated key comes again."""
    named = dict(name_runs(words))
    stops = _stops(words)
    count = len(words)
    index = 0
    while index < count:
        slope = 1.0 - _LATER * index / count
        stop = named.get(index)
        if stop is not None:
            keys = _of_name(words[index:stop], stops)
        elif words[index].low in stops:
            stop, keys = index + 1, iter(())
        else:
            stop = _run_end(words, index, named, stops)
            before, after = _neighbours(words, index, stop)
            keys = _of_run(words[index:stop], before, after)
        for key, worth in keys:
            yield key, worth * slope
        index = stop


def _stops(words: Sequence[Word]) -> frozenset[str]:
    """The words of the text that tell nothing about its topic, in its language."""
    codes = languages_of(words)
    listed = [grammar_of(code).function_words for code in codes if code != ENGLISH_CODE]
    lows = {word.low for word in words}
    return frozenset(low for low in lows if is_stop(low)).union(
        *(functions & lows for functions in listed)
    )


def _run_end(
    words: Sequence[Word], start: int, named: dict[int, int], stops: Collection[str]
) -> int:
    """Where the neighbours of a word end that are neither stop words nor a name."""
    stop = start + 1
    while stop < len(words) and stop not in named:
        if not words[stop].joined or words[stop].low in stops:
            break
        stop += 1
    return stop


def _of_name(name: Sequence[Word], stops: Collection[str]) -> Iterator[tuple[str, float]]:
    # "Der" of "Der Wind ist kalt." has its capital from the sentence.
    while len(name) > 1 and name[0].low in stops:
        name = name[1:]
    yield " ".join(w.raw for w in name).lower(), NAME
    if len(name) > 1:
        for word in name:
            if word.low not in JOINTS and word.low not in stops:
                yield word.low, WORD


def _neighbours(words: Sequence[Word], start: int, stop: int) -> tuple[str, str]:
    """The words before and after a run, lower case, empty where none is joined; adjectives do not count."""
    first = start
    while first > 0 and words[first].joined and words[first - 1].low in PLAIN_ADJECTIVES:
        first -= 1
    before = words[first - 1].low if first > 0 and words[first].joined else ""
    after = words[stop].low if stop < len(words) and words[stop].joined else ""
    return before, after


def _of_run(run: Sequence[Word], before: str, after: str) -> Iterator[tuple[str, float]]:
    """Words without a stop word between them: after an opener a noun phrase until a verb shows."""
    forms = [base_form(w.low) for w in run]
    kinds = _kinds(run, forms, before, after)
    head = _head(kinds) if before in OPENERS else -1
    for index, form in enumerate(forms):
        if form not in NOUNS_TOO and is_stop(form):
            continue
        if index == head:
            yield form, NOUN
        else:
            yield form, max(kinds[index], WORD) if index < head else kinds[index]
    if 0 < head < _LONGEST_PHRASE:
        yield " ".join([*(w.low for w in run[:head]), forms[head]]), PHRASE


def _kinds(run: Sequence[Word], forms: Sequence[str], before: str, after: str) -> list[float]:
    """What kind of word each is, by its ending and the words beside the run."""
    kinds = [_kind(w.low, form) for w, form in zip(run, forms, strict=True)]
    last = len(run) - 1
    ends_in_s = last and kinds[last] == WORD and forms[last] != run[last].low
    if ends_in_s and (before in SINGULAR or after in OBJECTS):
        kinds[last] = VERB  # its third person, no plural
    if before in BEFORE_VERBS:
        kinds[0] = min(kinds[0], VERB)
    return kinds


def _head(kinds: Sequence[float]) -> int:
    """The last word of a noun phrase: before a verb that follows its first word."""
    for index in range(1, len(kinds)):
        if kinds[index] in (VERB, ADVERB):
            return index - 1
    return len(kinds) - 1


def _kind(word: str, form: str) -> float:
    if word.endswith("ly") and len(word) > 4:
        return ADVERB
    if word.endswith(("ed", "ing")) and len(word) > 5:
        return VERB
    return VERB if form != word and not word.endswith(_NOUN_ENDINGS) else WORD
