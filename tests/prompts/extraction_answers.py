"""An answer to the extraction prompt that the test passages support, and parsers of answers."""

from __future__ import annotations

import json
from typing import Any

from soulmem.domain.drafts import Drafts
from soulmem.prompts import extraction
from tests.prompts.passages import EN, ZH

GOOD: dict[str, Any] = {
    "episodes": [
        {
            "lines": [4],
            "text": "Lena promised Anton to feed his cat.",
            "importance": 0.7,
            "place": "old mill",
            "people": ["Lena", "Anton", "Nora", "Zorro"],
            "feelings": [{"label": "joy", "intensity": 0.6}],
            "senses": ["smells of apples", "taste of lemons"],
            "keep": ["Anton", "lion"],
        }
    ],
    "facts": [
        {
            "lines": [9],
            "subject": "Anton",
            "verb": "is brother of",
            "object": "Lena",
            "strength": 0.9,
        }
    ],
    "concepts": [
        {
            "lines": [9, 10],
            "name": "Anton",
            "type": "entity",
            "about": "older brother, hates thunder",
        }
    ],
    "habits": [
        {
            "lines": [6, 8, 12],
            "when": "when praised",
            "does": "looks away and makes light of it",
            "chance": 0.8,
        }
    ],
    "kinds": [{"lines": [5, 6], "text": "being praised by Nora"}],
}


def parse(value: Any) -> Drafts:
    return extraction.parse(json.dumps(value, ensure_ascii=False), EN)


def parse_chinese(value: Any) -> Drafts:
    return extraction.parse(json.dumps(value, ensure_ascii=False), ZH)
