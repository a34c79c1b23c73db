"""Rendering of a passage in a prompt, so that its texts cannot be read as instructions.

Texts of users are never part of our sentences: they are between tags, one message on a line. Line breaks and
tags inside a message are removed, so that it cannot imitate a line or the end of the chat.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from soulmem.domain.drafts import Passage
from soulmem.language.scripts import is_unspaced

_KNOWN = 30  # most known names: each costs tokens in every call
_NAMED = 6  # most names of which facts are requested
_NAME_CHARACTERS = 60  # longest name
_TAG = re.compile(r"<(?=\s*[/|!a-zA-Z])")
_LINE = re.compile(r"\[(?=\s*\d+\s*\])")
_KANA = re.compile("[\u3041-\u30ff]")


def language_of(texts: Iterable[str]) -> str:
    """Language of the prompt: "zh" for texts that are mostly Chinese, else "en"."""
    whole = "\n".join(texts)
    return "zh" if is_unspaced(whole) and not _KANA.search(whole) else "en"


def rendered_passage(passage: Passage) -> str:
    """The passage as text of a prompt, the chat last."""
    names = [
        ("character", passage.soul),
        ("user", "; ".join(map(_name, passage.users))),
    ]
    if passage.known_names:
        names.append(("known", "; ".join(map(_name, passage.known_names[:_KNOWN]))))
    heads = [
        f"<{tag}>" + _on_one_line(value) + f"</{tag}>" for tag, value in names if value
    ]
    if passage.summary:
        heads.append("<summary>\n" + _on_one_line(passage.summary) + "\n</summary>")
    lines = [
        "["
        + str(line.number)
        + "] "
        + (_name(line.speaker) + ": " if line.speaker else "")
        + _on_one_line(line.text)
        for line in passage.lines
    ]
    return "\n".join([*heads, "<chat>", *lines, "</chat>"])


def fact_names(passage: Passage) -> tuple[str, ...]:
    """The names of which facts are requested, those of the speakers last."""
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
    """Whether it is likely a name: not a word in capitals, nor a name with the character behind it."""
    if is_unspaced(name):
        return name in sure or not any(
            sure_name and sure_name in name for sure_name in sure
        )
    return name in sure or not (len(name) > 1 and name.isupper())


def names_tag(names: Sequence[str]) -> str:
    """Names as text of a prompt."""
    return "<names>" + "; ".join(names) + "</names>"


def _name(name: str) -> str:
    return _on_one_line(name)[:_NAME_CHARACTERS].replace(";", ",").replace(":", " ")


def _on_one_line(text: str) -> str:
    """The text on one line, without tags and line numbers."""
    return _LINE.sub("(", _TAG.sub("‹", " ".join(text.split())))
