"""Words that carry no topic, by language: one list each, read from the data folder."""

from __future__ import annotations

from soulmem.language.word_lists import signs, word_set

# English in three steps: no token of a search; a token, but no reason to show; no topic.
ENGLISH_GRAMMAR = word_set("en", "function_words", "grammar")
ENGLISH_WEAK = word_set("en", "function_words", "weak")
ENGLISH = ENGLISH_GRAMMAR | ENGLISH_WEAK | word_set("en", "function_words", "everyday")

CHINESE = word_set("zh", "function_words", "words")
CHINESE_GRAMMAR_SIGNS = frozenset(signs("zh", "function_words", "grammar_signs"))
# Signs that stand alone as words: a run of unknown signs ends at them.
CHINESE_SIGNS = CHINESE_GRAMMAR_SIGNS | frozenset(signs("zh", "function_words", "signs"))

JAPANESE = word_set("ja", "function_words", "words")

# What a drafted concept may not be called.
NOBODY = word_set("en", "pronouns", "nobody") | word_set("zh", "pronouns", "nobody")
