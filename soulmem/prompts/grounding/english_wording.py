"""How does an English sentence word a fact? By the order of its words: there is no tagger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from soulmem.prompts.grounding.passage_words import stem
from soulmem.prompts.grounding.wording import Person, Wording


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:—–]")
# a clause behind these may share the subject
_LINKS = frozenset(",;:—–") | _set("and then")
_BREAKS = _LINKS | _set(
    """
    but or that because since who which when if while so although unless as
    """
)
_PRONOUNS = {
    **dict.fromkeys(("i", "we"), Person.SPEAKER),
    "you": Person.ADDRESSEE,
    **dict.fromkeys(("he", "she", "they", "it"), Person.OTHER),
}
_OBJECTS = {
    **dict.fromkeys(_set("me us my our mine myself"), Person.SPEAKER),
    **dict.fromkeys(_set("you your yours yourself"), Person.ADDRESSEE),
    # her, his, their: whose, most times
    **dict.fromkeys(_set("him them it"), Person.OTHER),
}
_SHORT = {"m": "am", "re": "are", "ll": "will", "d": "would", "ve": "have", "s": "is"}
_BE = _set("am is are was were be been")
_HAVE = _set("have has had")
_LEAD = (
    _BE
    | _HAVE
    | _set(
        """
    being having do does did will would shall should can could may might must not never always also just
    still already really often only even once ever now finally usually rarely don't doesn't didn't won't
    wouldn't can't couldn't shouldn't haven't hasn't hadn't isn't aren't wasn't weren't cannot going
    """
    )
)
_AT = _set(
    """
    in on at to from with of for into by about under near over onto behind beside against
    """
)
_NOT = _set(
    """
    not never cannot don't doesn't didn't won't wouldn't can't couldn't shouldn't
    """
) | _set("haven't hasn't hadn't isn't aren't wasn't weren't")
_THE = _set("the a an some this that these those")
_OPENERS = _set(
    """
    yes no well oh ok okay please sorry hey ah let's there here what where why how who nobody everybody
    everyone someone something nothing each all both such
    """
)
_UNSURE = _set("if unless wish maybe perhaps probably")
_WHOSE = _set("my your his her its our their")
_NO_THING = _set(
    """
    so well very tomorrow today tonight yesterday now then too again here there away alone yes no back
    soon up down out off it him her them me you us everyone everybody nobody anyone someone something
    nothing anything one much more both all
    """
)
_NO_NAME = _OPENERS | _WHOSE | _LEAD | _THE | _AT | _NO_THING
# share of small words; English has twice as many, German and French a tenth
_SMALL = 0.2
_MOST_BETWEEN = 6  # words between verb and object
_MOST_OF_THING = 4  # words
_MOST_OF_VERB = 8  # words


def worded(text: str, subject: str, verb: str, thing: str) -> Wording | None:
    """The fact in the sentence's words; None when its verb does not stand there."""
    tokens, asked = list(_tokens(text)), list(_tokens(verb))
    span = _verb(tokens, [word for word, _ in asked])
    if span is None:
        return None
    start, end = span
    who, lead = _subject(tokens, start, {word for word, _ in _tokens(subject)} - _THE)
    if any(word in _NOT or word in _UNSURE for word, _ in tokens[:lead]):
        who = None  # "I never said that he .."
    object_start = _find(
        tokens, end, [stem(w) for w, _ in _tokens(thing) if w not in _THE | _AT]
    )
    is_there = object_start is not None and _is_behind(tokens[end:object_start])
    return Wording(
        subject=who,
        verb=_said(tokens[lead:start], tokens[start:end], asked),
        object=thing if is_there else None,
        persons=frozenset(
            _OBJECTS[word] for word, _ in tokens[lead:] if word in _OBJECTS
        ),
        instead=_split(tokens, lead, start, end),
    )


def _is_behind(between: Sequence[tuple[str, str]]) -> bool:
    """Whether no other clause begins between the verb and its object."""
    words = [word for word, _ in between]
    if words and words[0] in ("you", "it"):
        words = words[1:]  # "bought you this comb"
    return len(words) <= _MOST_BETWEEN and not any(
        w in _PRONOUNS or w in _BREAKS - _AT for w in words
    )


def is_english(text: str) -> bool:
    """Whether so many of its words are small ones of English."""
    words = [word for word, _ in _tokens(text) if word not in _LINKS]
    small = _PRONOUNS.keys() | _OBJECTS.keys() | _LEAD | _AT | _THE | _BREAKS
    return sum(word in small for word in words) >= _SMALL * len(words)


def is_plain(verb: str) -> bool:
    """Whether the verb is one of those that stand in most sentences: is, has."""
    return all(
        word in _LEAD or word in _AT or word in _THE for word, _ in _tokens(verb)
    )


def is_verb(verb: str) -> bool:
    """Whether the words are no clause: without who does it, or another verb's beginning."""
    words = [word for word, _ in _tokens(verb)]
    return 0 < len(words) <= _MOST_OF_VERB and not any(
        w in _PRONOUNS or w in _BREAKS - _AT for w in words
    )


def is_thing(text: str) -> bool:
    """Whether the words may name a thing or somebody: not "so well", "tomorrow", "I'd feed"."""
    words = [word for word, _ in _tokens(text)]
    solid = [
        w
        for w in words
        if w not in _THE and w not in _AT and w not in _NO_THING and not _is_adverb(w)
    ]
    return 0 < len(solid) <= _MOST_OF_THING and not any(
        w in _LEAD or w in _BREAKS - _AT or (w in _PRONOUNS and w != "it")
        for w in words
    )


def without_article(name: str) -> str:
    """The name of a thing: "the comb" is the comb."""
    head, _, rest = name.partition(" ")
    return rest if rest and head.lower() in _THE else name


def _is_adverb(word: str) -> bool:
    return len(word) > 4 and word.endswith("ly")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Words, lower case and as written; "I'll" is two."""
    for match in _TOKEN.finditer(text):
        raw = match.group().replace("’", "'")
        low = raw.lower()
        head, mark, tail = low.partition("'")
        if mark and tail in _SHORT and (tail != "s" or head in _PRONOUNS):
            yield head, raw[: len(head)]
            yield _SHORT[tail], _SHORT[tail]
        else:
            yield low, raw


def _verb(
    tokens: Sequence[tuple[str, str]], verb: Sequence[str]
) -> tuple[int, int] | None:
    """From the first of the verb's words to behind the last; small words may be others."""
    telling = [
        stem(w)
        for w in verb
        if w not in _LEAD and w not in _AT and w not in _THE and w not in _BREAKS
    ]
    if not telling:
        forms = next(
            (forms for forms in (_BE, _HAVE) if forms & set(verb)), frozenset[str]()
        )
        position = next(
            (position for position, (word, _) in enumerate(tokens) if word in forms),
            None,
        )
        return None if position is None else (position, position + 1)
    start = _find(tokens, 0, telling[:1])
    while start is not None:
        end: int | None = start + 1
        for word_stem in telling[1:]:
            position = _find(tokens, end or 0, [word_stem])
            end = (
                None if position is None or position - (end or 0) > 2 else position + 1
            )
            if end is None:
                break
        if end is not None:
            return start, end
        start = _find(tokens, start + 1, telling[:1])
    return None


def _find(
    tokens: Sequence[tuple[str, str]], start: int, stems: Sequence[str]
) -> int | None:
    """Where the run of stems begins, small words between them left out."""
    if not stems:
        return None
    for begin in range(start, len(tokens)):
        rest = (stem(w) for w, _ in tokens[begin:] if w not in _THE and w not in _AT)
        if stem(tokens[begin][0]) == stems[0] and all(
            a == b for a, b in zip(stems, _padded(rest), strict=False)
        ):
            return begin
    return None


def _padded(stems: Iterator[str]) -> Iterator[str]:
    yield from stems
    while True:
        yield ""


def _subject(
    tokens: Sequence[tuple[str, str]], start: int, asked: set[str]
) -> tuple[str | Person | None, int]:
    """Who stands before the verb, and where what belongs to the verb begins."""
    lead = start
    while lead and (
        tokens[lead - 1][0] in _LEAD | _WHOSE or _is_adverb(tokens[lead - 1][0])
    ):
        lead -= 1
    stop = lead
    while stop:
        begin = stop
        while begin and tokens[begin - 1][0] not in _BREAKS:
            begin -= 1
        who = _mention(tokens[begin:stop], begin == 0, asked)
        if who is not None:
            return who, lead
        if begin < stop or begin == 0 or tokens[begin - 1][0] not in _LINKS:
            break  # somebody is there whom no name tells
        stop = begin - 1
    return None, lead


def _mention(
    clause: Sequence[tuple[str, str]], opens: bool, asked: set[str]
) -> str | Person | None:
    """The first pronoun or name in a clause that no preposition stands before."""
    for position, (low, raw) in enumerate(clause):
        before = clause[position - 1][0] if position else ""
        if low in _PRONOUNS:
            return (
                _PRONOUNS[low] if low not in ("they", "it") else None
            )  # who speaks may be among them
        if before in _AT or low.endswith("'s"):
            continue
        name = (
            raw[0].isupper()
            and not _is_adverb(low)
            and low not in _OPENERS | _WHOSE | _LEAD | _THE | _AT | _NO_THING
        )
        if name and (
            position
            or not opens
            or position + 1 == len(clause)
            or clause[position + 1][1][0].isupper()
        ):
            stop = position + 1
            while stop < len(clause) and clause[stop][1][0].isupper():
                stop += 1
            words = clause[position:stop]
            asked_words = [raw for word, raw in words if word in asked]
            return " ".join(
                asked_words
                if len(asked_words) == len(asked)
                else [raw for _, raw in words]
            )
        if low in asked:
            return " ".join(raw for word, raw in clause if word in asked)
    return None


def _said(
    lead: Sequence[tuple[str, str]],
    verb: Sequence[tuple[str, str]],
    asked: Sequence[tuple[str, str]],
) -> str:
    """The verb as it was asked for, with what changes its sense: "will fetch", "always hated"."""
    if any(word in _NOT for word, _ in lead):
        return _joined([*lead, *verb])
    asked_words = {word for word, _ in asked}
    more = [
        token
        for token in lead
        if token[0] not in _BE | _HAVE and token[0] not in asked_words
    ]
    return _joined([*more, *asked])


def _joined(tokens: Sequence[tuple[str, str]]) -> str:
    """The words without who is meant, and what leads to the object."""
    words = ["is" if low == "am" else raw for low, raw in tokens if low not in _OBJECTS]
    while words and words[-1].lower() in _THE:
        words.pop()
    return " ".join(words)


def _split(
    tokens: Sequence[tuple[str, str]], lead: int, start: int, end: int
) -> tuple[str, str] | None:
    """Verb and object among the verb's own words: of "hung the lantern in the attic" the last thing."""
    end = next(
        (position for position in range(start, end) if tokens[position][0] in _BREAKS),
        end,
    )
    heads = [
        position
        for position in range(start + 1, end)
        if tokens[position][0] in _AT or tokens[position][0] in _THE
    ]
    heads = [position for position in heads if position - 1 not in heads]
    for number in range(len(heads) - 1, -1, -1):
        begin = heads[number]
        stop = heads[number + 1] if number + 1 < len(heads) else end
        first = begin
        while first < stop and tokens[first][0] in _AT:
            first += 1
        words = [raw for low, raw in tokens[first:stop] if low not in _THE]
        while words and (
            words[-1].lower() in _NO_THING or _is_adverb(words[-1].lower())
        ):
            words.pop()
        thing = " ".join(words)
        if is_thing(thing) and not _OBJECTS.keys() & set(thing.lower().split()):
            return _joined(tokens[lead:first]), thing
    return None
