"""Which names does a card or a world teach, and what else is each called?

Rather too few than too many: a name that is none ties together what has nothing to do with each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from soulmem.domain.soul import KnownName

_LONGEST = 60  # signs; what is longer is a sentence
_HAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_HAN = re.compile(f"[{_HAN}]")
_WORD = r"[A-Z][^\W\d_]*(?:['’-][^\W\d_]+)*"
_NAME = (
    rf"(?<![\w'’-]){_WORD}(?: (?:of |the |de |von |van |la |le |du )?{_WORD}){{0,3}}"
)
_IN_SENTENCE = re.compile(rf"(?<=[a-z0-9,)] )({_NAME})")
_BRACKETED = re.compile(
    rf"({_NAME}|[{_HAN}·]{{2,8}})\s*[(（]([^()（）\n]{{1,48}})[)）]"
)
_ALSO = re.compile(
    rf"({_NAME})[^\S\n]{{0,2}},?[^\S\n]{{0,2}}\(?\b"
    r"(?:also known as|a\.?k\.?a\.?|also called|known as|nicknamed|better known as)\s+"
    rf"[\"“']?({_NAME})",
)
_ALSO_HAN = re.compile(
    rf"([{_HAN}·]{{2,4}}?)[，,]?(?:又名|又叫|又称|也叫|别名|外号|绰号|人称|昵称)(?:是|为)?[“「『\"：:]?([{_HAN}·]{{2,4}})"
)
_REGEX = re.compile(r"/.*/[a-z]*\Z", re.DOTALL)
# Words that are written with a capital and name nobody.
# fmt: off
_NO_NAMES = frozenset({
    "i", "i'm", "i'd", "i'll", "i've", "ok", "ooc", "npc", "user", "char", "god",
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december", "christmas", "easter", "halloween",
    "english", "chinese", "japanese", "french", "german", "spanish", "korean", "russian", "american",
})
OWN_KEYS = frozenset({
    "name", "names", "fullname", "alias", "aliases", "nickname", "nicknames", "aka",
    "姓名", "名字", "名称", "全名", "别名", "昵称", "外号", "绰号", "名前",
})
# fmt: on


def looks_like_name(text: str) -> bool:
    """Whether a word or two by itself may be a name: a capital, or a script without capitals."""
    text = text.strip()
    if (
        not 2 <= len(text) <= _LONGEST
        or text.casefold() in _NO_NAMES
        or len(text.split()) > 4
    ):
        return False
    if _IS_HAN.search(text):
        return len(text) <= 12 and not re.search(r"[，。！？、：；,.!?:;\s]", text)
    return re.fullmatch(_NAME, text) is not None and not (
        text.isupper() and len(text) > 4
    )


def spelled(key: str, text: str) -> str:
    """`key` with the capitals it has in `text`, where it always has some there; else as it is."""
    found = re.findall(rf"(?<![^\W_]){re.escape(key)}(?![^\W_])", text, re.IGNORECASE)
    written = {one for one in found if one[:1].isupper()}
    return found[0] if written and len(written) == len(set(found)) else key


def names_of_keys(keys: Sequence[str], title: str, text: str) -> list[KnownName]:
    """The names among the keys of an entry; those that are plainly one and the same are aliases."""
    wanted = [
        spelled(key.strip(), f"{title}. {text}")
        for key in keys
        if not _REGEX.match(key.strip())
    ]
    good = [key for key in dict.fromkeys(wanted) if looks_like_name(key)]
    if looks_like_name(title) and title.casefold() in {key.casefold() for key in good}:
        good = [title, *(key for key in good if key.casefold() != title.casefold())]
    groups: list[list[str]] = []
    for key in good:
        home = next(
            (
                group
                for group in groups
                if any(_same(key, other, len(good)) for other in group)
            ),
            None,
        )
        if home is None:
            groups.append([key])
        else:
            home.append(key)
    return [KnownName(first, tuple(rest)) for first, *rest in groups]


def names_in(text: str, *, is_prose: bool = True) -> list[KnownName]:
    """Names that a text speaks of, with aliases in brackets or after "also known as".

    Prose writes names alone with a capital; a list of traits, or a line of titles, writes everything so.
    """
    words = re.findall(r"[^\W\d_]+", text)
    capitals = sum(word[0].isupper() for word in words)
    found = []
    if is_prose and 2 * capitals < len(words):
        found = [
            KnownName(match[1])
            for match in _IN_SENTENCE.finditer(text)
            if looks_like_name(match[1])
        ]
    for pattern in (_BRACKETED, _ALSO, _ALSO_HAN):
        for match in pattern.finditer(text):
            name, alias = match[1], match[2].strip(" \"“”'")
            is_pair = (
                pattern is not _BRACKETED
                or _other_script(name, alias)
                or "aka" in match[0].lower()
            )
            if is_pair and looks_like_name(name) and looks_like_name(alias):
                found.append(KnownName(name, (alias,)))
    return found


def own_names(text: str) -> list[str]:
    """The names in a list of them: "Mira, Mi; 米拉"."""
    parts = re.split(r"[,;/、，；|()（）]|\bor\b", text)
    return [one for part in parts if looks_like_name(one := part.strip(" \"“”'"))]


def united(
    names: Iterable[KnownName], own: Sequence[str], player: str, source: str
) -> tuple[KnownName, ...]:
    """The names without repeats, aliases of one name together, nor the player's.

    `own` are the soul's: its name, its aliases.
    """
    spellings: dict[str, dict[str, str]] = {}
    mine = {name.casefold() for name in own}
    for known in (KnownName(own[0], tuple(own[1:])), *names):
        if known.name.casefold() == player.casefold():
            continue
        if known.name.casefold() in mine:
            home = spellings.setdefault(own[0].casefold(), {})
        else:
            home = spellings.setdefault(known.name.casefold(), {})
        for one in (known.name, *known.aliases):
            home.setdefault(one.casefold(), one.strip())
    out = []
    aliases = {
        alias for folded, some in spellings.items() for alias in some if alias != folded
    }
    words = {word for alias in aliases for word in alias.split()}
    for folded, some in spellings.items():
        first, *rest = some.values()
        if not rest and (folded in aliases or folded in words):
            continue  # what else somebody is called, or a part of it
        if folded != own[0].casefold() or rest:
            out.append(KnownName(first, tuple(rest), source))
    return tuple(out)


def _same(key: str, other: str, count: int) -> bool:
    """Whether two keys of one entry name the same: one is a part, a short form, or the other script."""
    one, two = key.casefold(), other.casefold()
    if one.isascii() and two.isascii():
        words, others = set(one.split()), set(two.split())
        short, long = sorted((one, two), key=len)
        return (
            words <= others
            or others <= words
            or (len(short) >= 3 and long.startswith(short))
        )
    if _other_script(key, other):
        return count == 2
    return one in two or two in one


def _other_script(one: str, two: str) -> bool:
    return bool(_IS_HAN.search(one)) is not bool(_IS_HAN.search(two))
