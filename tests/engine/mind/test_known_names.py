"""Names of card and user, as concepts come, change and go."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.situation import ConceptDetail
from soulmem.domain.soul import KnownName, Soul
from soulmem.engine.mind.known_names import KnownNames

NOW = datetime(2026, 5, 1, tzinfo=timezone.utc)
SOUL = SoulId("s1")


def concept(key: str, text: str, *aliases: str, origin: Origin = Origin.USER) -> Memory:
    detail = ConceptDetail(aliases=aliases)
    kind = MemoryKind.CONCEPT
    return Memory(MemoryId(key), SOUL, kind, text, origin, NOW, concept=detail)


@pytest.fixture
def names() -> KnownNames:
    """The names of Mira Stone, whose card names Tovan."""
    return KnownNames(Soul(SOUL, "Mira Stone", (KnownName("Tovan", ("Tov",)),)))


def test_a_name_is_taken_as_long_as_any_concept_of_the_user_has_it(
    names: KnownNames,
) -> None:
    assert not names.is_taken("harbour")
    names.put(concept("a", "Harbour"))
    names.put(concept("b", "The Port", "harbour"))
    assert names.is_taken("harbour")
    names.drop(MemoryId("a"))
    assert names.is_taken("harbour")
    names.drop(MemoryId("b"))
    assert not names.is_taken("harbour")
    assert not names.is_taken("the port")


def test_a_concept_with_another_name_or_in_the_bin_frees_its_name(
    names: KnownNames,
) -> None:
    names.put(concept("a", "Harbour"))
    names.put(concept("a", "Haven"))
    assert (names.is_taken("harbour"), names.is_taken("haven")) == (False, True)
    names.put(replace(concept("a", "Haven"), state=MemoryState.BIN))
    assert not names.is_taken("haven")
    assert names.names_of(MemoryId("a")) == ()


def test_the_souls_own_name_and_the_card_are_taken_and_what_messages_give_is_not(
    names: KnownNames,
) -> None:
    assert names.is_taken("mira")
    assert names.is_taken("ston"), "the beginning of a word of it is enough"
    assert names.is_taken("tov")
    assert not names.is_taken("tova")
    names.put(concept("a", "Kaelith", origin=Origin.CHAT))
    assert not names.is_taken("kaelith")
    assert names.spot("Where is Kaelith?") == [MemoryId("a")]


def test_concepts_that_a_model_drafted_and_other_kinds_are_no_names(
    names: KnownNames,
) -> None:
    names.put(concept("a", "Harbour", origin=Origin.MODEL))
    names.put(replace(concept("b", "Haven"), kind=MemoryKind.NOTE))
    assert names.concepts() == []
    assert names.spot("the Harbour and the Haven") == []


def test_the_card_has_a_concept_of_its_own_unless_one_of_the_user_stands_for_it(
    names: KnownNames,
) -> None:
    put, dropped = names.card_changes(NOW)
    assert ([memory.text for memory in put], dropped) == (["Tovan"], [])
    (card,) = put
    names.put(card)
    assert names.card_changes(NOW) == ([], [])
    for key in ("a", "b"):
        names.put(concept(key, "The Smith", "tovan"))
        assert names.card_changes(NOW) == ([], [card.id])
    names.drop(MemoryId("a"))
    assert names.card_changes(NOW) == ([], [card.id]), "the other one still does"
    (stands_for,) = names.card_names()
    assert stands_for[1] == {card.id, MemoryId("b")}
    names.drop(MemoryId("b"))
    assert names.card_changes(NOW) == ([], [])


def test_as_if_leaves_everything_as_it_was(names: KnownNames) -> None:
    (card,) = names.card_changes(NOW)[0]
    names.put(card)
    names.put(concept("a", "Harbour"))
    with names.as_if([concept("a", "Haven"), concept("b", "Port")], [card.id]) as seen:
        assert seen.is_taken("haven")
        assert not seen.is_taken("harbour")
        assert [memory.text for memory in seen.card_changes(NOW)[0]] == ["Tovan"]
    assert (names.is_taken("harbour"), names.is_taken("haven")) == (True, False)
    assert names.concept(MemoryId("b")) is None
    assert names.concept(card.id) == card


def test_a_chinese_text_names_a_latin_name_by_its_sound(names: KnownNames) -> None:
    names.put(concept("a", "Lin Yue"))
    assert names.spot("林月来了。") == [MemoryId("a")]
    assert names.concept_names(MemoryId("a")).sounds
    names.drop(MemoryId("a"))
    assert names.spot("林月来了。") == []
    assert names.all_concept_names() == {}
