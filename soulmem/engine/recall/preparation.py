"""What every recall reads, made once per process: for a thread that nobody waits for."""

from __future__ import annotations

from soulmem.engine.recall.line_matches import world_words
from soulmem.language import base_forms, general_rarity
from soulmem.language.times import phrases
from soulmem.language.world_lines import LANGUAGES


def prepare_recalls() -> None:
    """Read the English dictionary, the world's lines and the patterns of times: some 0.3 s and 10 MB.

    Else the first recalls would. The Chinese dictionary takes 60 MB and waits for a text that needs it.
    """
    base_forms.prepare()
    phrases.prepare()
    for language in LANGUAGES:
        world_words(language)
        general_rarity.frequencies(language)
