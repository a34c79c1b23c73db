"""Which messages become memories, and what is the memory of one?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.conversation.episodes import (
    attended,
    episode_id,
    episode_of,
    memorable,
    settled_count,
    spoken,
)
from soulmem.conversation.story_texts import as_story
from soulmem.domain.dialogue import Chat, Message, Role, Version, text_hash
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.memories import MemoryKind, Origin, Timelines
from soulmem.domain.situation import Participant, ParticipantKind, Situation, TimeSpan

MIRA, TOM = SoulId("s1"), SoulId("s2")
NOON = datetime(2026, 5, 1, 12, tzinfo=timezone.utc)


def says(text: str, role: Role = Role.USER, speaker: str = "Al", slot: str = "m1") -> Message:
    """A message of that text."""
    return Message(SlotId(slot), text_hash(text), role, speaker, text, sent_at=NOON)


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "\n\t"),
        *("((brb, dinner))", " (( two\nlines )) ", "（（我去吃饭））"),
        *("(OOC: let us skip ahead)", "[OOC: wait]", "(ooc wait)", "[OOC]"),
        *("OOC: can you make her taller?", "ooc：等一下", "OOC : no"),
        *("（OOC：等一下，我去吃饭）", "【OOC稍等】", "［ooc 稍等］", "(OOC等一下)"),
        *("🎲 17", "Al rolls a 2d6: 9", "rolled? no: I roll 1d20 = 14"),
    ],
)
def test_talk_beside_the_game_is_no_memory(text: str) -> None:
    """Blank lines, out-of-character lines in the usual notations and dice."""
    assert not memorable(as_story(says(text)))


@pytest.mark.parametrize(
    "text",
    [
        "(smiles) I will wait for you.",
        "((whispers)) come here ((quietly)) and stay",
        "Doc: the patient is fine.",
        "(Ooctavia smiles)",
        "（她笑了）好。",
        "She said OOC is rude.",
        "He rolls up his sleeves.",
        "She rolls the die between her fingers, thinking of the 20 years they had, and does not let it fall."
        " A d20 lay there once.",
        "（轻声）我会等你。",
        "雨停了",
    ],
)
def test_ordinary_lines_are_memories(text: str) -> None:
    """Asides in brackets, words that only look like a notation, Chinese."""
    assert memorable(says(text))


def test_a_system_line_is_no_memory_whatever_it_says() -> None:
    """Every other role may be remembered."""
    assert [role for role in Role if memorable(says("It rains.", role))] == [
        Role.USER,
        Role.CHARACTER,
        Role.NARRATOR,
    ]


@pytest.mark.parametrize(
    ("present", "expected"),
    [(None, {MIRA}), ((TOM,), {TOM}), ((MIRA, TOM), {MIRA, TOM}), ((), set())],
)
def test_presence(present: tuple[SoulId, ...] | None, expected: set[SoulId]) -> None:
    """Nothing said means the chat's souls; a list means exactly those on it."""
    message = Message(SlotId("m1"), "0" * 16, Role.USER, "Al", "hi", present=present)
    chat = Chat(ChatId("c1"), (MIRA,))
    assert {soul for soul in (MIRA, TOM) if attended(chat, soul, message)} == expected


def test_the_last_message_counts_only_when_settled() -> None:
    """Three messages: two count, three when the end is settled in its present wording."""
    log = [says(f"line {i}", slot=f"m{i}") for i in range(3)]
    open_chat = Chat(ChatId("c1"), (MIRA,))
    closed = Chat(ChatId("c1"), (MIRA,), settled_tail=log[2].version)
    swiped = Chat(ChatId("c1"), (MIRA,), settled_tail=Version(SlotId("m2"), text_hash("before")))
    assert [settled_count(c, log) for c in (open_chat, closed, swiped)] == [2, 3, 2]
    assert settled_count(closed, []) == 0


SPOKEN = [Role.USER, Role.CHARACTER]
KEYS = st.tuples(
    *(st.sampled_from(["a", "b"]) for _ in range(5)),
    st.sampled_from([*SPOKEN, Role.NARRATOR]),
)


@given(KEYS, KEYS)
def test_same_soul_family_place_and_words_are_the_same_memory(
    one: tuple[str, str, str, str, str, Role],
    other: tuple[str, str, str, str, str, Role],
) -> None:
    """And a difference in any of them, the speaker's name and whether it is spoken included, is another."""

    def key(of: tuple[str, str, str, str, str, Role]) -> str:
        soul, family, slot, text, speaker, role = of
        return episode_id(SoulId(soul), ChatId(family), says(text, role, speaker, slot))

    same = one[:5] == other[:5] and (one[5] in SPOKEN) == (other[5] in SPOKEN)
    assert (key(one) == key(other)) == same


def test_an_episode_records_who_said_what_when() -> None:
    """Neutral wording, the message as evidence, known in its own timeline."""
    message = says("I lost the ring.")
    episode = episode_of(MIRA, "Mira", ChatId("c1"), message, NOON)
    assert episode.text == "Al: I lost the ring."
    assert episode.evidence == ((message.version,),)
    assert (episode.kind, episode.origin) == (MemoryKind.EPISODE, Origin.CHAT)
    assert episode.timelines is Timelines.THIS
    assert episode.situation.time_span == TimeSpan(NOON, NOON)


@pytest.mark.parametrize(
    ("role", "speaker", "participants"),
    [
        (Role.CHARACTER, "Mira", (Participant("Mira", ParticipantKind.SELF),)),
        (Role.CHARACTER, "Tom", (Participant("Tom", ParticipantKind.OTHER),)),
        (Role.USER, "Mira", (Participant("Mira", ParticipantKind.OTHER),)),
        (Role.NARRATOR, "Narrator", ()),
        (Role.USER, " ", ()),
    ],
)
def test_who_took_part(role: Role, speaker: str, participants: tuple[Participant, ...]) -> None:
    """The soul knows itself, but not in a user of the same name; a narrator is nobody."""
    episode = episode_of(MIRA, "Mira", ChatId("c1"), says("hm", role, speaker), NOON)
    assert episode.situation.participants == participants


def test_a_line_without_a_speaker_stands_alone() -> None:
    """No empty name before it."""
    assert episode_of(MIRA, "Mira", ChatId("c1"), says("Rain.", speaker=""), NOON).text == "Rain."


def test_who_speaks_is_not_part_of_what_is_said() -> None:
    """Of an episode of a chat; a note about somebody begins with the name for a reason."""
    told = episode_of(MIRA, "Mira", ChatId("c1"), says("Bob: Hi, Al."), NOON)
    assert (told.text, spoken(told)) == ("Al: Bob: Hi, Al.", "Bob: Hi, Al.")
    by_hand = replace(told, situation=Situation(), origin=Origin.USER)
    assert spoken(by_hand) == told.text
    narrated = says("Rain: all day.", Role.NARRATOR, "Narrator")
    told = episode_of(MIRA, "Mira", ChatId("c1"), narrated, NOON)
    assert (told.text, spoken(told)) == ("Narrator: Rain: all day.", "Rain: all day.")
