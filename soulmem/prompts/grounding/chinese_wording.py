"""How does a Chinese sentence word a fact? By what stands before and behind the verb in its clause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from soulmem.language.scripts import is_unspaced
from soulmem.prompts.grounding.wording import Person, Wording

_MARKS = re.compile(r"[^\w，,；;：:]+")
_CLAUSE = re.compile(r"[，,；;：:]+")
_ASPECT = str.maketrans("", "", "了过着")
_LEAD = re.compile(
    r"[不没未别会要想能可以应该必须曾已经都也还就只常总一直从来再才很真太最正在]{1,5}$"
)
_COVERB = re.compile(
    r"[把被给对跟和用替与同]|从(?!来)|向(?!来)|(?<![正现])在|(?<!因)为"
)
_OTHERS = re.compile(r"[\u3041-\u30fa\uac00-\ud7af\u0e00-\u0e7f]")  # kana, Hangul, Thai
_NOT = re.compile(r"[不没未别]")
_UNSURE = re.compile(r"如果|要是|假如|若是|也许|或许|大概|好像|说不定")
_TAKEN = re.compile(r"(.{2,4})把")  # who does something to something
_MOST_BETWEEN = 6  # signs between verb and object
_MOST_BEFORE = 3  # other signs between who and verb
_WHO = re.compile(r"[我你您他她它咱俺]们?|[。！!…~]")
_HE = re.compile(r"^[他她它]们?")
_OF = re.compile(r"[我你您他她它咱俺]们?的")
_PRONOUNS = {
    **dict.fromkeys("我咱俺", Person.SPEAKER),
    **dict.fromkeys("你您", Person.ADDRESSEE),
    **dict.fromkeys("他她它", Person.OTHER),
}
_HINGE = re.compile(
    r"(.*(?:(?:(?:[在到进于成为是有叫向回]|(?<=[送卖交递还嫁借寄带])给)了?)))(.{2,10})"
)
_VERB = re.compile(
    r"(.*?(?:喜欢|喜爱|讨厌|害怕|怕|爱|恨|想要|想念|相信|买|卖|送给|送|带|拿|丢|藏|开|做|吃|喝|看见|看|见|找|学|教|帮|救|"
    r"杀|骑|养|写|画|唱|弹|读|种|修|等|欠|娶|嫁|认识|记得|答应|保护|打)[了过着]?)(.{1,10})"
)
_PLACE = re.compile(r"(?<=..)[上里中下内外]$")
_NO_THING = re.compile(
    "[今明昨]天|今晚|现在|以后|[这那]里|[这那]样|什么|怎么|没什么|[起下出过]来"
)
_LONGEST = 10  # signs of a thing
_LONGEST_VERB = 14  # signs


def worded(
    text: str, subject: str, verb: str, thing: str, names: Iterable[str]
) -> Wording | None:
    """The fact in the sentence's words; None when its verb does not stand there.

    `names` are those that the passage gives: there is no other way to tell a name from a word.
    """
    clauses = [_plain(clause) for clause in _CLAUSE.split(_MARKS.sub("", text))]
    asked = _HE.sub("", verb.strip())
    plain = _plain(asked)
    clause_index = _clause_of(clauses, plain)
    if clause_index is not None:
        return _in_clause(clauses, clause_index, plain, asked, subject, thing, names)
    for cut in (1, 2):  # `挂灯笼` may stand as `把灯笼挂`
        turned = f"把{plain[cut:]}{plain[:cut]}"
        clause_index = _clause_of(clauses, turned) if len(plain) > cut + 1 else None
        if clause_index is not None:
            wording = _in_clause(
                clauses, clause_index, turned, turned, subject, thing, names
            )
            own = (plain[:cut], plain[cut:])
            return replace(wording, instead=own if is_thing(own[1]) else None)
    return None


def _clause_of(clauses: Sequence[str], wanted: str) -> int | None:
    return next(
        (index for index, clause in enumerate(clauses) if wanted and wanted in clause),
        None,
    )


def _in_clause(
    clauses: Sequence[str],
    clause_index: int,
    wanted: str,
    verb: str,
    subject: str,
    thing: str,
    names: Iterable[str],
) -> Wording:
    """As the clause has it, where `wanted` is the verb without its aspects."""
    before, behind = clauses[clause_index].split(wanted, 1)
    longest_names = sorted({subject, *names} - {""}, key=len, reverse=True)
    who, lead = _subject(before, longest_names)
    if who is None and not before and clause_index:
        # the clause before tells of whom
        who, _ = _subject(clauses[clause_index - 1], longest_names)
    rest = _plain(thing)
    is_taken = bool(rest) and lead == "把" + rest
    is_there = is_taken or rest in behind[: len(rest) + _MOST_BETWEEN]
    more = "" if is_taken or _PRONOUNS.keys() & set(lead) else lead
    is_sure = not _UNSURE.search(
        "，".join(clauses[: clause_index + 1])
    ) and not _NOT.search(before.removesuffix(more))
    return Wording(
        subject=who if is_sure else None,
        verb=more + _WHO.sub("", verb.strip()),
        object=thing if rest and is_there else None,
        persons=frozenset(
            _PRONOUNS[sign] for sign in wanted + behind if sign in _PRONOUNS
        ),
        instead=_split(more, verb),
    )


def is_chinese(text: str) -> bool:
    """Whether the text is mostly in Chinese signs, and no other language's that has them too."""
    return is_unspaced(text) and not _OTHERS.search(text)


def is_verb(verb: str) -> bool:
    """Whether the signs are no clause: without who does it."""
    plain = _HE.sub("", _plain(verb))
    return (
        0 < len(plain) <= _LONGEST_VERB
        and not _CLAUSE.search(plain)
        and plain[0] not in _PRONOUNS
    )


def is_thing(text: str) -> bool:
    """Whether the signs may name a thing or somebody: no pronoun, no adverb of time, no clause."""
    return (
        0 < len(text) <= _LONGEST
        and not _NO_THING.fullmatch(text)
        and not _PRONOUNS.keys() & set(text)
        and not _CLAUSE.search(text)
    )


def _plain(text: str) -> str:
    return _MARKS.sub("", text).translate(_ASPECT).replace("将", "把")


def _subject(before: str, names: Iterable[str]) -> tuple[str | Person | None, str]:
    """Who stands before the verb, and what between them belongs to the verb."""
    own = _OF.sub("", before)
    mentions: list[tuple[int, int, str | Person]] = []
    for name in names:
        position = own.find(_plain(name))
        if position >= 0 and not any(
            start <= position < stop for start, stop, _ in mentions
        ):
            mentions.append((position, position + len(name), name))
    for position, sign in enumerate(own):
        if sign in _PRONOUNS and not any(
            start <= position < stop for start, stop, _ in mentions
        ):
            mentions.append((position, position + 1, _PRONOUNS[sign]))
    free = sorted(
        (
            mention
            for mention in mentions
            if not mention[0] or not _COVERB.match(own[mention[0] - 1])
        ),
        key=lambda o: o[0],
    )
    whom = {mention[2] for mention in free}
    if (
        free
        and free[-1][2] is Person.OTHER
        and len(whom) == 2
        and Person.SPEAKER not in whom
    ):
        whom.discard(Person.OTHER)  # "Bai says that he .." is of Bai
    if len(whom) == 1:
        between = own[free[-1][1] :]
        lead = _between(between)
        is_near = len(between) - len(lead) <= _MOST_BEFORE or _COVERB.match(between)
        return (whom.pop() if is_near else None), lead
    taken = _TAKEN.match(own)
    if not free and taken is not None:
        return taken.group(1), _between(own[taken.end() - 1 :])
    return None, ""


def _between(signs: str) -> str:
    """What belongs to the verb: not, will, has; or all of it from `把` on."""
    coverb = _COVERB.search(signs)
    if coverb is not None:
        return signs[coverb.start() :] if coverb.group() in "把对" else ""
    lead = _LEAD.search(signs)
    return lead.group() if lead is not None else ""


def _split(lead: str, verb: str) -> tuple[str, str] | None:
    """Verb and object among the verb's own signs: of `把灯笼挂在了阁楼上` what stands behind `在了`."""
    plain = _MARKS.sub("", verb)
    match = _HINGE.fullmatch(plain) or _VERB.fullmatch(plain)
    if match is None or _PRONOUNS.keys() & set(plain):
        return None
    thing = _PLACE.sub("", match.group(2))
    return (lead + match.group(1), thing) if is_thing(thing) else None
