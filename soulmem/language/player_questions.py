"""Questions as a player asks them: of what was told, and of what never was. en, zh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from soulmem.language.gists import gist_language, topic_of
from soulmem.language.grammars import ENGLISH_CODE
from soulmem.language.word_lists import tables

_LANGUAGES = (ENGLISH_CODE, "zh")


def question_about(
    quote: str, speaker: str, *, is_promise: bool, soul: str, player: str
) -> str | None:
    """A question that the quote answers, in its language; None where it is about nothing, or in another one.

    speaker  who says the quote, `soul` and `player` to each other
    """
    language, topic = gist_language(quote), topic_of(quote)
    if language not in _LANGUAGES or not topic:
        return None
    by = {soul: "yours", player: "mine"}.get(speaker, "others")
    form = f"promise_{by}" if is_promise else by
    if language == ENGLISH_CODE and topic[0].islower():
        topic = f"the {topic}"
    return _filled(_forms(language)[form], topic=topic, who=speaker or player)


def question_about_nobody(language: str, is_known: Callable[[str], bool]) -> str | None:
    """A question about somebody of whom nothing can be known; None where all of the names are known."""
    forms = _forms(language if language in _LANGUAGES else _LANGUAGES[0])
    name = next((name for name in forms["strangers"] if not is_known(name)), None)
    return None if name is None else _filled(forms["never"], name=name)


def _forms(language: str) -> Any:
    return tables(language)["player_questions"]


def _filled(form: str, **words: str) -> str:
    """The form with these words, which may have braces of their own."""
    parts = form.split("{")
    out = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        out += [words[name], rest]
    return "".join(out)
