"""Which known names does a text hold?"""

from __future__ import annotations

import unicodedata
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from soulmem.graph.name_search import Glance, NameIndex, keys_of
from soulmem.language.name_tokens import Tokens, fold

KNOWN = {
    "bob": ("Bob", "Robert", "老鲍"),
    "mira": ("Mira Stern", "米拉"),
    "tower": ("Mira Stern's Tower", "米拉塔"),
    "will": ("Will",),
    "don": ("Don", "O'Brien"),
    "tea": ("tea",),
    "hyphen": ("Jean-Luc",),
    "dotted": ("爱丽丝·布朗",),
    "russian": ("Аня",),
    "hindi": ("राम",),
    "kana": ("さくら",),
    "other bob": ("Bob",),
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bob came.", ["bob", "other bob"]),
        ("*_Bob_* and Bob's hat", ["bob", "other bob"]),
        ("Bobby came with Bo.", []),
        ("那位‘米拉’的书。", ["mira"]),
        ("BOB! I said bob.", []),
        ("then bob came", ["bob", "other bob"]),
        ("then ROBERT came", ["bob"]),
        ("I will ask Will.", ["will"]),
        ("I said: will you?", []),
        ("will you", ["will"]),
        ("mira stern left, She said", ["mira"]),
        ("Mira  Stern\u2019s\nTower fell on Mira Stern", ["tower", "mira"]),
        ("Mira alone", []),
        ("Don't! O\u2019Brien", ["don"]),
        ("Don't go", []),
        ("Don\u2019T GO", []),
        ("Tea is served", ["tea"]),
        ("jean\u2011luc, Jean Luc", ["hyphen"]),
        ("爱丽丝・布朗来了", ["dotted"]),
        ("我见过米拉，还有老鲍。", ["mira", "bob"]),
        ("米拉塔很高", ["tower"]),
        ("和Bob说", ["bob", "other bob"]),
        ("Ｂｏｂ、Ｗｉｌｌ", ["bob", "other bob", "will"]),
        ("Это Аня, Анями", ["russian"]),
        ("桜とさくらちゃん", ["kana"]),
        ("जय राम!", ["hindi"]),
        ("रामा", []),
        ("", []),
    ],
)
def test_names_are_found_as_people_write_them(text: str, found: list[str]) -> None:
    """As written; in any case when long, of two words, or where nobody writes capitals; not inside words."""
    index: NameIndex[str] = NameIndex()
    for key, names in KNOWN.items():
        index.put(key, names)
    assert index.find(text) == found


def test_a_name_without_letter_or_digit_is_none() -> None:
    """It would stand everywhere."""
    index: NameIndex[str] = NameIndex()
    index.put("a", ["", " ", "...", "\u0301"])
    assert len(index) == 0
    assert index.find("... well ...") == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Mira Stern", "ＭＩＲＡ \n stern", True),
        ("O'Brien", "o\u2019brien", True),
        ("Straße", "STRASSE", True),
        ("Mira", "Mir a", False),
        ("?!", "", True),
    ],
)
def test_spellings_of_one_name_fold_alike(one: str, other: str, same: bool) -> None:
    """Case, width, white space and kinds of apostrophes do not count; spaces themselves do."""
    assert (fold(one) == fold(other)) is same


ALPHABET = st.text("AaBb'tT _-李王.\u093e\u0930", max_size=12)
NAMES = st.dictionaries(st.integers(0, 6), st.lists(ALPHABET, max_size=3), max_size=7)


@given(
    NAMES,
    st.lists(st.tuples(st.integers(0, 6), st.lists(ALPHABET, max_size=2))),
    ALPHABET,
)
@example({0: ["a b"], 1: ["b a b"]}, [], "a b a b")
@example({0: ["A"]}, [], "A'A")
@example({0: ["李"]}, [], "王'李'王")
@example({0: ["A"]}, [], "李'A'李")
def test_the_index_agrees_with_looking_everywhere(
    names: dict[int, list[str]], later: list[tuple[int, list[str]]], text: str
) -> None:
    """Whatever was put, replaced and dropped before; sets of keys by place."""
    index: NameIndex[int] = NameIndex()
    current = dict(names)
    for key, some in [*names.items(), *later]:
        index.put(key, some)
        current[key] = some
    for key in [key for key, some in current.items() if key % 3 == 2 or not some]:
        index.drop(key)
        del current[key]
    assert sorted(index.find(text)) == sorted(looked_for(current, text))
    for name in (text, *chain.from_iterable(current.values())):
        assert index.find(name) == keys_of(index.spots(Tokens.of(name)))


@given(NAMES, ALPHABET, st.booleans())
def test_a_glance_misses_no_name(names: dict[int, list[str]], text: str, many: bool) -> None:
    """It may see one that is not there."""
    index: NameIndex[int] = NameIndex()
    some = [name for names in names.values() for name in names]
    for number, name in enumerate(some):
        index.put(number, [name])
    glance = Glance([*some, *(f"else {chr(97 + n)}x" for n in range(26) if many)])
    assert glance.may_hold(text) or not index.find(text)


@pytest.mark.parametrize("others", [0, 40])
@pytest.mark.parametrize("name", ["Mira Stern", "İstanbul", "米拉", "O'Brien", "Ｂｏｂ"])
def test_a_glance_knows_what_is_not_there(name: str, others: int) -> None:
    """A few names or many; as people write them."""
    glance = Glance([name, *(f"name{n}" for n in range(others))])
    assert glance.may_hold(f"so, {name}!")
    assert not glance.may_hold("nothing of it")


def looked_for(names: dict[int, list[str]], text: str) -> set[int]:
    """Every piece of the text against every name, sign by sign; then the longest that do not overlap."""
    text = " ".join(unicodedata.normalize("NFKC", text).split())
    places: list[tuple[int, int, int]] = []
    for start in range(len(text)):
        for stop in range(start + 1, len(text) + 1):
            piece = text[start:stop]
            for key, some in names.items():
                if any(reads(piece, " ".join(n.split()), text) for n in some) and stands(
                    text, start, stop
                ):
                    places.append((start, stop, key))
    places.sort(key=lambda p: (p[0] - p[1], p[0]))
    kept: list[tuple[int, int]] = []
    keys_found = set()
    for start, stop, key in places:
        if (start, stop) in kept or all(stop <= a or start >= b for a, b in kept):
            kept.append((start, stop))
            keys_found.add(key)
    return keys_found


def reads(piece: str, name: str, text: str) -> bool:
    """Whether the piece is the name in a case that will do."""
    if not any(c.isalnum() for c in name) or piece.lower() != name.lower():
        return False
    words = len("".join(c if is_word(c) else " " + c * c.isalnum() + " " for c in name).split())
    free = words > 1 or sum(c.isalpha() for c in name) >= 5 or not any(c.isupper() for c in name)
    return piece == name or free or not any(c.isupper() for c in text)


def stands(text: str, start: int, stop: int) -> bool:
    """Whether no word goes on before or after the place."""
    before, after = text[:start][-1:], text[stop:]
    if "\u093e" in (before, after[:1]):
        return False
    # The alphabet has no letters of endings like 's, with which a name may go on. Beside a Chinese sign an
    # apostrophe is a quotation mark.
    if after[:1] == "'" and is_word(after[1:2]):
        return False
    if before == "'" and is_word(text[: start - 1][-1:]):
        return False
    return not (is_word(before) and is_word(text[start])) and not (
        is_word(text[stop - 1]) and is_word(after[:1])
    )


def is_word(sign: str) -> bool:
    """Whether the sign joins its neighbours to a word."""
    return sign.isalnum() and sign not in "李王"
