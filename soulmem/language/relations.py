"""What does the verb of a relation rule out? And does it say that something is no longer so?

English and Chinese; of any other verb it is only known which spellings are the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from soulmem.language.base_forms import base_form
from soulmem.language.scripts import is_unspaced

ALIAS = {"en": "is also called", "zh": "又名"}
_OVER = {"en": "no longer", "zh": "不再"}

# What is true of one thing at a time: where somebody lives is no longer where they lived before.
_ONE = {
    "home": "live in|live at|living in|living at|reside in|reside at|dwell in|dwell at|settle in|move to|"
    "home in|住在|居住在|居住于|定居在|定居于|搬到|搬去|搬进|家在",
    "workplace": "work for|work at|work in|employ by|employ at|serve under|study at|enrol at|enroll at|"
    "工作于|任职于|就职于|受雇于|就读于",
    "calling": "work as|serve as|employ as|job|job as|occupation|profession|职业|工作|职业为|身份|担任",
    "position": "locate in|locate at|keep in|keep at|store in|hide in|hide at|park in|park at|"
    "位于|放在|藏在|存放在|收在",
    "age": "age|year old|岁数|年龄|年龄为|今年",
    "owner": "belong to|own by|possess by|属于|归|归属于",
}
# The same of each of the two.
_PAIR = {
    "marriage": "marry|marry to|marry with|wed|wed to|spouse|spouse of|husband|husband of|wife|wife of|"
    "嫁给|娶|结婚|妻子|丈夫|的妻子|的丈夫|配偶|老公|老婆",
    "engagement": "engage to|betroth to|fiance of|fiancee of|fiancé of|fiancée of|订婚|未婚夫|未婚妻",
}
# What cannot both be said of the same two things.
_AGAINST = {
    "liking": (
        "love|like|adore|admire|cherish|fond of|in love with|fall in love with|"
        "care for|care about|attract to|爱|喜欢|喜爱|爱上|爱慕|欣赏|关心",
        "hate|dislike|despise|detest|loathe|resent|恨|讨厌|憎恨|厌恶|反感",
    ),
    "trust": (
        "trust|believe|believe in|rely on|confide in|信任|相信|依赖",
        "distrust|mistrust|suspect|doubt|猜疑|怀疑",
    ),
    "holding": (
        "own|have|possess|carry|hold|keep|wear|拥有|有|持有|带|佩戴|保管",
        "lose|sell|give away|give up|discard|失去|丢|弄丢|卖掉|送掉|丢失",
    ),
}
_AGAINST_OF_PAIR = {
    "side": (
        "friend|friend of|friend with|best friend|best friend of|befriend|ally|ally of|ally with|"
        "朋友|的朋友|好友|盟友|同伴",
        "enemy|enemy of|enemy with|rival|rival of|foe of|fight against|敌人|的敌人|仇人|对手|敌对",
    ),
}

_IDLE = """
is are was were be been being am has have had having do does did will would now still currently always also
already just really very deeply a an the his her its their my your again
"""  # words that tell when, or nothing
_NO = """
not never stopped stops ceased ceases quit formerly previously anymore n't
"""
_DROPPED, _DENIED = frozenset(_IDLE.split()), frozenset(_NO.split())
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


@dataclass(frozen=True, slots=True)
class Relation:
    """A verb as it is compared; `topic` names what it is about where something is known of that."""

    base: str  # the same for spellings that say the same
    is_over: bool = False  # denied, or told as past
    topic: str | None = None
    pole: int = 0  # of a topic with two sides: 1 or -1
    is_mutual: bool = False  # said of either it is said of both
    is_alias: bool = False  # the two are one


@lru_cache(1 << 12)
def relation_of(verb: str | None) -> Relation:
    """What the verb says, None being a relation that was given none."""
    said = " ".join((verb or "").replace("_", " ").split()).casefold()
    if said in ALIAS.values():
        return Relation(said, is_alias=True)
    base, is_over = _chinese(said) if is_unspaced(said) else _english(said)
    topic, pole, is_mutual = _TOPICS.get(base, (None, 0, False))
    if topic is None and base.startswith(("favourite ", "favorite ", "最喜欢", "最爱")):
        topic = base.replace("favorite", "favourite")
    return Relation(base, is_over, topic, pole, is_mutual)


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


def _english(said: str) -> tuple[str, bool]:
    """The verb in its base form, without what only tells when; and whether it is denied."""
    plain = said.replace("\u2019", "'").replace("n't", " n't")
    left = _DENIED_TWO.sub(" ", plain)
    words = _WORD.findall(left)
    kept = [word for word in words if word not in _DENIED]
    bare = [word for word in kept if word not in _DROPPED] or kept
    return " ".join(map(base_form, bare)), left != plain or len(kept) < len(words)


def _chinese(said: str) -> tuple[str, bool]:
    left = _ZH_DROPPED.sub("", said.replace(" ", ""))
    bare = _ZH_DENIED.sub("", left)
    is_over = bare != left or bare.endswith("过")
    return _ZH_IS.sub("", _ZH_IS.sub("", _ZH_DROPPED.sub("", bare))) or bare, is_over


def _topics() -> Mapping[str, tuple[str, int, bool]]:
    out: dict[str, tuple[str, int, bool]] = {}
    for table, is_mutual in ((_ONE, False), (_PAIR, True)):
        for topic, verbs in table.items():
            out.update(dict.fromkeys(verbs.split("|"), (topic, 0, is_mutual)))
    for sides, is_mutual in ((_AGAINST, False), (_AGAINST_OF_PAIR, True)):
        for topic, (for_it, against) in sides.items():
            out.update(dict.fromkeys(for_it.split("|"), (topic, 1, is_mutual)))
            out.update(dict.fromkeys(against.split("|"), (topic, -1, is_mutual)))
    return out


_TOPICS = _topics()
