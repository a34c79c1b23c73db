"""Which English words tell what the word beside them is? And what is the base form of a word?"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import Any

_OPENERS = """
a an the this that these those my your his her its our their whose some any every each no another in on at
of from into onto with without under over behind beside near through across inside about by for
"""
_SINGULAR = """
a an this that every each another
"""
_PLAIN_ADJECTIVES = """
old new little big great nice fine good bad long short high low own real true
"""
_NOUNS_TOO = """
mine can will well me you him her it us them my your his its our their the a an this that
"""
_OBJECTS = """
me you him her it us them my your his its our their the a an this that
"""
_BEFORE_VERBS = """
i you he she we they who to will would can could should must may might do does did let please never always
"""
_JOINTS = """
of the de la von van du da del
"""
# What the dictionary has wrong, or leaves as it is.
_IRREGULAR = """
swore:swear sworn:swear ran:run hidden:hide hid:hide thought:think burning:burn left:leave better:better
fell:fall felt:feel bound:bind wore:wear worn:wear tore:tear torn:tear broke:break broken:break
stole:steal stolen:steal wove:weave drew:draw drawn:draw threw:throw sang:sing sung:sing drank:drink
drunk:drink swam:swim fought:fight taught:teach caught:catch bought:buy sought:seek wept:weep slept:sleep
died:die dying:die lying:lie lied:lie lay:lie laid:lay shot:shoot froze:freeze frozen:freeze forgot:forget
forgotten:forget forgave:forgive
"""

OPENERS = frozenset(_OPENERS.split())
SINGULAR = frozenset(_SINGULAR.split())
PLAIN_ADJECTIVES = frozenset(_PLAIN_ADJECTIVES.split())
NOUNS_TOO = frozenset(_NOUNS_TOO.split())
OBJECTS = frozenset(_OBJECTS.split())
BEFORE_VERBS = frozenset(_BEFORE_VERBS.split())
JOINTS = frozenset(_JOINTS.split())
_FORMS = dict(pair.split(":") for pair in _IRREGULAR.split())


@cache
def _lemmatiser() -> Any:
    return import_module("simplemma").lemmatize


@lru_cache(1 << 15)
def base_form(word: str) -> str:
    """The base form of a lower-case word; of names there is none, so do not ask for theirs."""
    if not (word.isascii() and word.isalpha()):
        return word
    return _FORMS.get(word) or str(_lemmatiser()(word, lang="en")).lower()


def prepare() -> None:
    """Read the dictionary of base forms; later is slower only for the first text."""
    base_form("readied")
