"""Ids, aliases and fields of drafted concepts."""

from __future__ import annotations

import pytest

from soulmem.domain.drafts import DraftConcept
from soulmem.domain.ids import SoulId
from soulmem.domain.situation import ConceptType
from soulmem.engine.views.concept_descriptions import (
    concept_id,
    merged_detail,
    usable_aliases,
)

SOUL = SoulId("s1")


def draft(name: str, *aliases: str, description: str | None = None) -> DraftConcept:
    return DraftConcept(
        lines=(1,),
        importance=0.5,
        name=name,
        concept_type=ConceptType.ENTITY,
        description=description,
        aliases=aliases,
    )


def test_spellings_and_articles_make_no_other_concept() -> None:
    assert concept_id(SOUL, "the Old Mill") == concept_id(SOUL, "old mill")
    assert concept_id(SOUL, "An owl") == concept_id(SOUL, "owl")
    assert concept_id(SOUL, "The") != concept_id(SOUL, "a mill")
    assert concept_id(SOUL, "mill") != concept_id(SOUL, "owl")
    assert concept_id(SOUL, "mill") != concept_id(SoulId("s2"), "mill")


@pytest.mark.parametrize(
    ("alias", "is_usable"),
    [
        ("Duchess", True),
        (" Duchess ", True),
        ("Lady Esk", True),
        ("the Duchess", True),
        ("she", False),
        ("She", False),
        ("the man", False),
        ("MIRA", False),
        ("Tom", False),
        ("", False),
        ("D" * 40, True),
        ("D" * 41, False),
        ("林月", True),
        ("林", False),
    ],
)
def test_an_alias_is_used_when_it_reads_like_a_name_of_nobody_else(
    alias: str, is_usable: bool
) -> None:
    usable = usable_aliases(draft("Mira", alias), {"tom"})
    assert usable == ([alias.strip()] if is_usable else [])


def test_an_alias_counts_once() -> None:
    assert usable_aliases(draft("Mira", "Esk", "Esk ", "Esk"), set()) == ["Esk"]


def test_drafts_of_one_concept_are_merged_and_the_last_description_counts() -> None:
    drafts = [
        draft("Old Mill", "Mill", description="by the river"),
        draft("old mill", "Mill", " ", description="burnt down"),
        draft("Old Mill"),
    ]
    merged = merged_detail("Old Mill", drafts)
    assert merged.aliases == ("Mill", "old mill")
    assert merged.description == "burnt down"
    assert merged.concept_type is ConceptType.ENTITY
    assert merged_detail("Old Mill", []).aliases == ()
