"""Prepared recalls find all that is read once in a process."""

from __future__ import annotations

from datetime import datetime, timezone

from soulmem.engine.recall.line_matches import prepare_recalls, world_words
from soulmem.language.general_rarity import frequencies, share_of_rare_words, tokens_of
from soulmem.language.times import chinese_times, english_times
from soulmem.language.times.phrases import time_phrases
from soulmem.language.world_lines import world_language

MARCH = datetime(2026, 3, 2, tzinfo=timezone.utc)
TEXTS = ("Where were we yesterday?", "我们昨天在哪里？", "昨日はどこにいましたか？")


def test_the_first_line_in_any_language_reads_nothing_more() -> None:
    made_once = (world_words, frequencies, english_times.compiled, chinese_times.compiled)
    for each in made_once:
        each.cache_clear()
    prepare_recalls()
    made = [each.cache_info().misses for each in made_once]
    for text in TEXTS:
        assert time_phrases(text, MARCH)
        language = world_language(text)
        assert share_of_rare_words(tokens_of(text), language) > 0
        assert world_words(language).lines
    assert [each.cache_info().misses for each in made_once] == made
