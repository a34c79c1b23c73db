"""Rendering of a passage in a prompt, so that its texts cannot be read as instructions.

Texts of users are never part of our sentences: they are between tags, one message on a line. Line breaks and
tags inside a message are removed, so that it cannot imitate a line or the end of the chat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from soulmem.domain.drafts import Passage, PassageLine
from soulmem.language.scripts import is_unspaced

_NAMED = 6  # most names of which facts are requested
_NAME_CHARACTERS = 60  # longest name
_TAG = re.compile(r"<(?=\s*[/|!a-zA-Z])")
_LINE = re.compile(r"\[(?=\s*\d+\s*\])")
_KANA = re.compile("[\u3041-\u30ff]")
# Quoted: of "Nora: I am tired" a model may take "Nora" for the first word of the sentence.
_SPEECH = {"en": (': "', '"'), "zh": ("：“", "”")}


def language_of(texts: Iterable[str]) -> str:
    """Language of the prompt: "zh" for texts that are mostly Chinese, else "en"."""
    whole = "\n".join(texts)
    return "zh" if is_unspaced(whole) and not _KANA.search(whole) else "en"


def rendered_passage(passage: Passage, *, is_numbered: bool = True) -> str:
    """The passage as text of a prompt, the chat last; its lines have numbers for what refers to them."""
    heads = [tagged("character", passage.soul)] if passage.soul else []
    if passage.summary:
        heads.append("<summary>\n" + _on_one_line(passage.summary) + "\n</summary>")
    lines = []
    for line in passage.lines:
        number = f"[{line.number}] " if is_numbered else ""
        lines.append(number + _chat_line(line, passage.language))
    return "\n".join([*heads, "<chat>", *lines, "</chat>"])


def _chat_line(line: PassageLine, language: str) -> str:
    """The line with who says it, if anybody does."""
    words = _on_one_line(line.text)
    if not line.speaker:
        return words
    begin, end = _SPEECH[language]
    return _name(line.speaker) + begin + words + end


def fact_names(passage: Passage) -> tuple[str, ...]:
    """The names besides the speakers' of which facts are requested: those that the lines give."""
    talk = {passage.soul, *passage.users, *(line.speaker for line in passage.lines)}
    names = (*passage.names, *passage.known_names)
    others = dict.fromkeys(_name(name) for name in names if name not in talk)
    return tuple(name for name in others if name)[:_NAMED]


def names_tag(names: Sequence[str]) -> str:
    """Names as text of a prompt."""
    return "<names>" + "; ".join(names) + "</names>"


def tagged(tag: str, text: str) -> str:
    """A text of a user between tags, on one line."""
    return f"<{tag}>" + _on_one_line(text) + f"</{tag}>"


def numbered(tag: str, texts: Iterable[str]) -> str:
    """Texts of users between tags, each on a line with its number, from 1."""
    lines = (f"[{number}] " + _on_one_line(text) for number, text in enumerate(texts, 1))
    return "\n".join((f"<{tag}>", *lines, f"</{tag}>"))


def _name(name: str) -> str:
    plain = name.replace(";", ",").replace(":", " ")  # first: "[0:]" becomes a number
    return _on_one_line(plain)[:_NAME_CHARACTERS]


def _on_one_line(text: str) -> str:
    """The text on one line, without tags and line numbers."""
    return _LINE.sub("(", _TAG.sub("‹", " ".join(text.split())))
