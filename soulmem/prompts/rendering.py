"""How does a passage stand in a prompt, so that nothing in it can pass for an instruction?

What users wrote is never put into a sentence of ours: it stands between tags, one message to a line. A line
break or a tag inside a message is taken away, so neither a line nor the end of the chat can be feigned.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from soulmem.domain.drafts import Passage
from soulmem.language.scripts import is_unspaced

_KNOWN = 30  # names shown at most: each costs tokens in every call
_NAMED = 6  # names of whom facts are asked for
_NAME_CHARACTERS = 60  # of a name; a longer one is no name
_TAG = re.compile(r"<(?=\s*[/|!a-zA-Z])")
_LINE = re.compile(r"\[(?=\s*\d+\s*\])")
_KANA = re.compile("[\u3041-\u30ff]")


def language_of(texts: Iterable[str]) -> str:
    """ "zh" for texts mostly Chinese, else "en": in which of our two wordings the model is addressed."""
    whole = "\n".join(texts)
    return "zh" if is_unspaced(whole) and not _KANA.search(whole) else "en"


def rendered_passage(passage: Passage) -> str:
    """The passage as the model sees it: the chat last."""
    names = [
        ("character", passage.soul),
        ("user", "; ".join(map(_name, passage.users))),
    ]
    if passage.known_names:
        names.append(("known", "; ".join(map(_name, passage.known_names[:_KNOWN]))))
    heads = [f"<{tag}>" + _tame(value) + f"</{tag}>" for tag, value in names if value]
    if passage.summary:
        heads.append("<summary>\n" + _tame(passage.summary) + "\n</summary>")
    lines = [
        "["
        + str(line.number)
        + "] "
        + (_name(line.speaker) + ": " if line.speaker else "")
        + _tame(line.text)
        for line in passage.lines
    ]
    return "\n".join([*heads, "<chat>", *lines, "</chat>"])


def fact_names(passage: Passage) -> tuple[str, ...]:
    """The names of whom the lines tell, those who talk last."""
    talk = (passage.soul, *passage.users)[:_NAMED]
    sure = (passage.soul, *passage.users, *passage.known_names)
    names = (
        *(name for name in passage.names if _is_sure(name, sure)),
        *passage.known_names,
    )
    others = dict.fromkeys(name for name in names if name not in talk)
    shown = (*list(others)[: _NAMED - len(talk)], *talk)
    return tuple(dict.fromkeys(_name(name) for name in shown if name))


def _is_sure(name: str, sure: Collection[str]) -> bool:
    """Whether it is more likely a name than a word that was shouted, or a name with the character behind it."""
    if is_unspaced(name):
        return name in sure or not any(
            sure_name and sure_name in name for sure_name in sure
        )
    return name in sure or not (len(name) > 1 and name.isupper())


def names_tag(names: Sequence[str]) -> str:
    """These as a prompt shows them."""
    return "<names>" + "; ".join(names) + "</names>"


def _name(name: str) -> str:
    return _tame(name)[:_NAME_CHARACTERS].replace(";", ",").replace(":", " ")


def _tame(text: str) -> str:
    """The text on one line, without anything that looks like a tag or a line's number."""
    return _LINE.sub("(", _TAG.sub("‹", " ".join(text.split())))
