"""Which messages contain which names: counted message by message, as if for a while, and over a snapshot."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from soulmem.domain.ids import MemoryId, SoulId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState, Origin
from soulmem.domain.situation import Participant, ParticipantKind, Situation
from soulmem.engine.mind.name_counts import NameCounts
from soulmem.graph.row_numbers import Rows

NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


def message(key: str, *names: str, speaker: str = "Al") -> Memory:
    """What somebody said, with the names in it."""
    people = (Participant(speaker, ParticipantKind.OTHER),) if speaker else ()
    return Memory(
        MemoryId(key),
        SoulId("s1"),
        MemoryKind.EPISODE,
        f"{speaker}: of {', '.join(names)}",
        Origin.CHAT,
        NOON,
        names=names,
        situation=Situation(participants=people),
    )


def counted(*messages: Memory) -> NameCounts:
    """The counts of these messages."""
    counts = NameCounts()
    for memory in messages:
        counts.swap(None, memory)
    return counts


def state(counts: NameCounts) -> tuple[object, ...]:
    """All that it says of a few names."""
    folds = sorted(counts.folds())
    return (
        folds,
        [counts.spellings(folded) for folded in folds],
        [sorted(counts.memories_with(folded)) for folded in folds],
        [counts.is_speaker(word) for word in ("al", "bo", "bora", "mira", "lin")],
        counts.sounding_alike("林月"),
        [sorted(counts.introduced_in(folded)) for folded in folds],
        sorted(counts.memories_with_whole("irma")),
    )


def test_spellings_come_by_how_many_messages_have_them() -> None:
    counts = counted(message("m1", "KAELITH"), message("m2", "Kaelith"), message("m3", "Kaelith"))
    assert counts.folds() == ["kaelith"]
    assert counts.spellings("kaelith") == ["Kaelith", "KAELITH"]
    assert counts.memories_with("kaelith") == {"m1", "m2", "m3"}
    assert counts.spellings("irma") == []
    assert counts.memories_with("irma") == set()


def test_a_swap_says_which_names_changed_and_a_name_goes_with_its_last_message() -> None:
    first = message("m1", "Irma", "Kaelith")
    counts = counted(first)
    empty = state(NameCounts())
    assert counts.swap(first, replace(first, names=("Irma", "Bo"))) == {"kaelith", "bo"}
    assert sorted(counts.folds()) == ["bo", "irma"]
    second = message("m2", "Bo")
    assert counts.swap(None, second) == {"bo"}  # the speaker is counted already
    assert counts.swap(second, None) == {"bo"}
    gone = counts.swap(replace(first, names=("Irma", "Bo")), None)
    assert gone == {"irma", "bo", "al"}
    assert state(counts) == empty


def test_names_that_sound_alike_are_found_from_either_side() -> None:
    counts = counted(message("m1", "林月"), message("m2", "Lin Yue"))
    assert counts.sounding_alike("林月") == ["林月", "lin yue"]
    assert counts.sounding_alike("lin yue") == ["lin yue", "林月"]
    assert counts.sounding_alike("kaelith") == ["kaelith"]
    counts.swap(message("m2", "Lin Yue"), None)
    assert counts.sounding_alike("林月") == ["林月"]


def test_the_beginnings_of_a_speakers_words_are_known_while_somebody_speaks_so() -> None:
    first, second = message("m1", speaker="Bora Lin"), message("m2", speaker="Bora")
    counts = NameCounts()
    assert counts.swap(None, first) >= {"bo", "bor", "bora", "li", "lin"}
    assert counts.swap(None, second) == set()  # nothing that was not so before
    assert counts.is_speaker("bo")
    assert not counts.is_speaker("b")  # of one character anything begins with it
    assert not counts.is_speaker("ora")
    assert counts.swap(first, None) >= {"li", "lin"}
    assert counts.is_speaker("bora")
    assert not counts.is_speaker("lin")
    assert counts.swap(second, None) == {"bo", "bor", "bora"}
    assert not counts.is_speaker("bora")


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": Origin.USER},
        {"kind": MemoryKind.NOTE},
        {"state": MemoryState.BIN},
        {"state": MemoryState.RETRACTED},
    ],
)
def test_only_messages_in_use_count(changed: dict[str, object]) -> None:
    counts = counted(replace(message("m1", "Irma"), **changed))  # type: ignore[arg-type]
    assert state(counts) == state(NameCounts())


def test_a_narrator_whom_nobody_knows_is_no_speaker() -> None:
    people = (
        Participant("Bora", ParticipantKind.UNKNOWN),
        Participant("Al", ParticipantKind.OTHER),
    )
    told = replace(message("m1"), situation=Situation(participants=people))
    counts = counted(told)
    assert counts.is_speaker("al")
    assert not counts.is_speaker("bo")
    assert not counted(message("m2", speaker="")).is_speaker("al")


def test_what_was_counted_for_a_while_is_undone_even_after_an_error() -> None:
    first = message("m1", "Irma")
    counts = counted(first)
    before = state(counts)
    swaps = [(first, None), (None, message("m2", "Bo", "林月"))]
    with counts.as_if(swaps) as changed:
        assert changed >= {"irma", "bo", "林月"}
        assert sorted(counts.folds()) == ["bo", "林月"]
    assert state(counts) == before
    with pytest.raises(ZeroDivisionError), counts.as_if(swaps):
        raise ZeroDivisionError
    assert state(counts) == before


def introducing(key: str, name: str) -> Memory:
    """A message that introduces somebody."""
    return replace(message(key, name), text=f"Al: This is my brother {name}.")


def test_who_is_introduced_is_known_as_long_as_a_message_does_it() -> None:
    one, two, named = (
        introducing("m1", "Irma"),
        introducing("m2", "Irma"),
        message("m3", "Irma"),
    )
    counts = counted(one, two, named)
    assert counts.introduced_in("irma") == {"m1", "m2"}
    assert counts.swap(one, replace(one, text="Al: of Irma")) == {"irma"}
    assert counts.swap(two, None) == {"irma"}
    assert counts.introduced_in("irma") == set()
    assert counts.memories_with("irma") == {"m1", "m3"}


def test_a_longer_name_counts_for_its_first_word() -> None:
    whole = message("m1", "Irma Stone")
    counts = counted(whole, message("m2", "Stone"))
    assert counts.memories_with_whole("irma") == {"m1"}
    assert counts.memories_with_whole("stone") == set()
    assert counts.swap(whole, None) == {"irma stone", "irma"}
    assert counts.memories_with_whole("irma") == set()


def test_a_snapshot_restores_all_but_memories_without_a_row() -> None:
    counts = counted(
        replace(message("m1", "Irma", "林月"), text="Al: This is my sister Irma, 林月."),
        message("m2", "IRMA", "Irma Stone", speaker="Mira"),
    )
    assert counts.introduced_in("irma") == {"m1"}
    rows = Rows[MemoryId]()
    rows.add(MemoryId("m1"))
    rows.add(MemoryId("m2"))
    other = NameCounts()
    other.restore(counts.packed(rows), lambda row: MemoryId(f"m{row + 1}"))
    assert state(other) == state(counts)
    assert other.is_speaker("mira")
    lost = Rows[MemoryId]()
    lost.add(MemoryId("m1"))
    partly = NameCounts()
    partly.restore(counts.packed(lost), lambda _row: MemoryId("m1"))
    assert partly.memories_with("irma") == {"m1"}
