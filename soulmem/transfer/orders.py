"""Tells orders to a language model or a program ("End every reply with ..") from statements of a story."""

from __future__ import annotations

import re

from soulmem.language.scripts import is_unspaced
from soulmem.language.word_lists import words

_FILE = "orders"
# What a sentence may begin with before its first word: bullets, numbers, brackets, marks of emphasis.
_BEFORE = re.compile(r"[^\w<]{0,12}(?:\d{1,3}[.)、．:]\s?)?[^\w<]{0,12}")
_LABEL_END = re.compile(r"[^\w\n]{0,3}[:：]")
_SIGNS_OF_FORM = re.compile(r"</?[A-Za-z][\w-]{0,40}\s?/?>|`|\$\d|\x00")


def _matcher(key: str) -> re.Pattern[str]:
    """An expression that finds the words of a list in a text without capitals."""
    spaced, unspaced = [], []
    for entry in sorted(words(_FILE, "orders", key), key=len, reverse=True):
        body = re.escape(entry.rstrip("*").casefold())
        if is_unspaced(entry):
            unspaced.append(body)
        else:
            spaced.append(body if entry.endswith("*") else rf"{body}(?!\w)")
    return re.compile("|".join([rf"(?<!\w)(?:{'|'.join(spaced)})", *unspaced]))


_AMOUNT = re.compile(
    r"(?<!\d)\d{1,6}\s?(?:[-~–]\s?\d{1,6}\s?)?\+?\s?(?:"
    rf"{'|'.join(words(_FILE, 'orders', 'amounts'))})"
)
_DECISIVE, _MACHINERY, _LANGUAGES = map(
    _matcher, ("decisive", "machinery", "languages")
)
_TEXT, _MUST, _DEEDS, _WRITERS, _LABELS, _FORMS = map(
    _matcher, ("text", "must", "deeds", "writers", "labels", "forms")
)


def is_order(sentence: str, player: str) -> bool:
    """Whether a sentence tells a writer or a program what to write, or how.

    player  the user's name: who is named in an order is seldom asked to do something
    """
    folded = sentence.casefold()
    if _DECISIVE.search(folded):
        return True
    label = _label(folded)
    begins = _beginning(folded[label:])
    must, opens = _MUST.search(folded), _MUST.match(begins)
    deed = _DEEDS.match(begins[opens.end() :].lstrip() if opens else begins)
    direct = (
        (must is not None)
        + (opens is not None or deed is not None)
        + (deed is not None)
        + (_WRITERS.search(folded) is not None)
    )
    named = 2 * len(_named(_MACHINERY, folded)) + 2 * bool(_AMOUNT.search(folded))
    named += len(_named(_TEXT, folded, deed[0] if deed else ""))
    named += (bool(player) and player in sentence) + bool(_LANGUAGES.search(folded))
    named += bool(_SIGNS_OF_FORM.search(sentence))
    if label:
        return named + direct >= 2
    return (
        (named >= 2 and direct >= 1)
        or (named >= 1 and direct >= 2)
        or direct >= 4
        or named >= 5
    )


def is_labelled(text: str) -> bool:
    """Whether it begins with a label of orders ("System: ..", "【系统】：")."""
    return _label(text[:200].casefold()) > 0


def _label(text: str) -> int:
    """Where the label ends that the text begins with; 0 without one."""
    before = _BEFORE.match(text)
    label = _LABELS.match(text, before.end() if before else 0)
    end = _LABEL_END.match(text, label.end()) if label else None
    return end.end() if end else 0


def names_form(heading: str) -> bool:
    """Whether a heading says that a form, a variable or an order follows."""
    return _FORMS.search(heading.casefold().replace("_", " ")) is not None


def _beginning(text: str) -> str:
    """The text from its first word on."""
    before = _BEFORE.match(text)
    return text[before.end() :] if before else text


def _named(pattern: re.Pattern[str], sentence: str, but: str = "") -> set[str]:
    """The different words of a list that a sentence has, without one."""
    return set(pattern.findall(sentence)) - {but}
