"""English words with a capital that name nobody, or only as a part of a name."""

from __future__ import annotations

from soulmem.language.word_lists import word_set

CALENDAR = word_set("en", "capitals", "calendar")
TONGUES = word_set("en", "capitals", "tongues")
EXCLAIMED = word_set("en", "capitals", "exclamations")
ADDRESSES = word_set("en", "capitals", "addresses")  # alone they are no name
OF_PLACES = word_set("en", "capitals", "of_places")
