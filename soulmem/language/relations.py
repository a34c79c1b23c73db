"""Verbs of relations: the topic on which they exclude each other, whether they deny or end something, and whether
they say the same, a cause or a contrast.

English and Chinese; of any other verb it is only known which spellings are the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from soulmem.language.base_forms import base_form
from soulmem.language.scripts import is_unspaced
from soulmem.language.word_lists import tables, word_set

ALIAS = {"en": "is also called", "zh": "又名"}
# In turns, of a relation between two names of one thing: ten times that of others.
NAME_STABILITY = 3000.0
_OVER = {"en": "no longer", "zh": "不再"}

_DROPPED = word_set("relations", "denial", "idle")
_DENIED = word_set("relations", "denial", "words")
_DENIED_TWO = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|used to|no more|at one time|once)\b"
)
_WORD = re.compile(r"n't\b|[^\W_]+(?:-[^\W_]+)*")
_ZH_DROPPED = re.compile(
    r"^(?:(?:如今|现在|目前|仍然|依然|一直|已经|正在|仍|还|已|正|很|非常|深|也|都|曾有)(?=.))+"
)
_ZH_DENIED = re.compile(
    r"^(?:不再|再也不|再不|已不|已经不|并不|从不|没有再|没再|停止了?|曾经?|以前|从前|过去|不是|不|没有|没|未)+(?=.)"
)
_ZH_IS = re.compile(r"^是|(?:了|着|过|是)$")


class RelationClass(str, Enum):
    """What a relation says of two things; `other` where it is only known that they are related."""

    SAME = "same"
    CAUSE = "cause"
    CONTRAST = "contrast"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Relation:
    """A verb as it is compared; `topic` names what it is about where something is known of that."""

    base: str  # the same for spellings that say the same
    is_over: bool = False  # denied, or told as past
    topic: str | None = None
    pole: int = 0  # of a topic with two sides: 1 or -1
    is_mutual: bool = False  # said of either it is said of both
    is_alias: bool = False  # the two are one
    says: RelationClass = RelationClass.OTHER


@lru_cache(1 << 12)
def relation_of(verb: str | None) -> Relation:
    """What the verb says, None being a relation that was given none."""
    phrase = " ".join((verb or "").replace("_", " ").split()).casefold()
    if phrase in ALIAS.values():
        return Relation(phrase, is_alias=True, says=RelationClass.SAME)
    base, is_over = _chinese(phrase) if is_unspaced(phrase) else _english(phrase)
    topic, pole, is_mutual = _TOPICS.get(base, (None, 0, False))
    if topic is None and base.startswith(("favourite ", "favorite ", "最喜欢", "最爱")):
        topic = base.replace("favorite", "favourite")
    says = _SAYS.get(phrase) or _SAYS.get(base, RelationClass.OTHER)
    return Relation(base, is_over, topic, pole, is_mutual, says=says)


def no_longer(verb: str) -> str:
    """The same verb, denied: what was so and is no more."""
    if relation_of(verb).is_over:
        return verb
    if is_unspaced(verb):
        return _OVER["zh"] + verb
    first, _, rest = verb.replace("_", " ").strip().partition(" ")
    if first.casefold() in ("is", "are", "was", "were", "am"):
        return f"{first} {_OVER['en']} {rest}".strip()
    return f"{_OVER['en']} {verb}"


def also_called(name: str, other: str) -> str:
    """The verb by which one name is another's."""
    return ALIAS["zh" if is_unspaced(name + other) else "en"]


def _english(phrase: str) -> tuple[str, bool]:
    """The verb in its base form, without what only tells when; and whether it is denied."""
    plain = phrase.replace("\u2019", "'").replace("n't", " n't")
    undenied = _DENIED_TWO.sub(" ", plain)
    words = _WORD.findall(undenied)
    kept = [word for word in words if word not in _DENIED]
    bare = [word for word in kept if word not in _DROPPED] or kept
    return " ".join(map(base_form, bare)), undenied != plain or len(kept) < len(words)


def _chinese(phrase: str) -> tuple[str, bool]:
    undated = _ZH_DROPPED.sub("", phrase.replace(" ", ""))
    bare = _ZH_DENIED.sub("", undated)
    is_over = bare != undated or bare.endswith("过")
    return _ZH_IS.sub("", _ZH_IS.sub("", _ZH_DROPPED.sub("", bare))) or bare, is_over


def _topics() -> Mapping[str, tuple[str, int, bool]]:
    """Each listed verb to its topic, its side of it (0 without sides), and whether it is mutual."""
    out: dict[str, tuple[str, int, bool]] = {}
    for table, is_mutual in (("of_one", False), ("of_pair", True)):
        for topic, lists in tables("relations")[table].items():
            out.update(dict.fromkeys(lists["verbs"], (topic, 0, is_mutual)))
    for table, is_mutual in (("opposed", False), ("opposed_of_pair", True)):
        for topic, lists in tables("relations")[table].items():
            out.update(dict.fromkeys(lists["for"], (topic, 1, is_mutual)))
            out.update(dict.fromkeys(lists["against"], (topic, -1, is_mutual)))
    return out


_TOPICS = _topics()
_SAYS = {
    verb: RelationClass(name)
    for name, verbs in tables("relations")["says"].items()
    for verb in verbs
}
