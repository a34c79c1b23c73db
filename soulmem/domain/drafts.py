"""Passages that a language model reads, and drafts of memories it may write."""

from __future__ import annotations

from dataclasses import dataclass

from soulmem.domain.situation import ConceptType, Emotion, Participant

# Numbers of a passage's lines, ascending, each once; the evidence of a draft
Lines = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PassageLine:
    """One message of a passage."""

    number: int  # from 1; what evidence is told by
    speaker: str  # empty: told by nobody in the story
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one chat, for one character."""

    language: (
        str  # "zh" or "en": in which the model is addressed; the answer keeps to the lines' own
    )
    soul: str  # the character's name
    users: tuple[str, ...]  # names of the user's personas
    lines: tuple[PassageLine, ...]
    summary: str = ""  # of what came before the lines
    # Names that memory holds already; a draft should use these
    known_names: tuple[str, ...] = ()
    # That the lines give, in order; whom facts are asked about
    names: tuple[str, ...] = ()

    def text(self) -> str:
        """Everything a draft may use: lines with speakers, summary and names."""
        spoken_lines = (f"{line.speaker}\n{line.text}" for line in self.lines)
        return "\n".join((self.soul, *self.users, *self.known_names, self.summary, *spoken_lines))


@dataclass(frozen=True, slots=True)
class DraftSummary:
    """The new summary of a chat."""

    text: str
    confidence: float = 1.0  # 0..1, how far the lines and the summary before carry it


@dataclass(frozen=True, slots=True)
class DraftEpisode:
    """An event in the character's words. The emotions are the character's own."""

    text: str
    lines: Lines  # not empty, as with every draft
    importance: float  # 0..1
    confidence: float = 1.0  # 0..1, how far its lines carry it
    story_time: str | None = None  # in the story's own words
    location: str | None = None
    participants: tuple[Participant, ...] = ()
    emotions: tuple[Emotion, ...] = ()
    sensations: tuple[str, ...] = ()
    situation: str | None = None  # the background
    anchors: tuple[str, ...] = ()  # words of the text that should not fade


@dataclass(frozen=True, slots=True)
class DraftAbstract:
    """A kind of episode, like "walking in the rain". Episodes that share a line are instances."""

    text: str
    lines: Lines
    importance: float  # 0..1


@dataclass(frozen=True, slots=True)
class DraftFact:
    """How two concepts relate: "subject verb object"."""

    subject: str
    verb: str
    object: str
    intensity: float  # 0..1, how strongly it holds
    confidence: float  # 0..1, how far its lines carry it
    lines: Lines
    importance: float  # 0..1
    is_over: bool = False  # was so, and is no more


@dataclass(frozen=True, slots=True)
class DraftConcept:
    """A person, thing or idea the lines speak of."""

    name: str
    concept_type: ConceptType
    lines: Lines
    importance: float  # 0..1
    aliases: tuple[str, ...] = ()
    description: str | None = None


@dataclass(frozen=True, slots=True)
class DraftHabit:
    """What the character tends to do in a kind of situation; `lines` are all where it did."""

    when: str  # the kind of situation: an abstract episode
    action: str  # usable as an instruction
    probability: float  # 0..1
    lines: Lines
    importance: float  # 0..1


@dataclass(frozen=True, slots=True)
class Drafts:
    """All drafts of one answer that passed the checks."""

    episodes: tuple[DraftEpisode, ...] = ()
    abstracts: tuple[DraftAbstract, ...] = ()
    facts: tuple[DraftFact, ...] = ()
    concepts: tuple[DraftConcept, ...] = ()
    habits: tuple[DraftHabit, ...] = ()
    # Why others did not stand, one reason each; no word of theirs
    dropped: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of drafts."""
        every = self.episodes, self.abstracts, self.facts, self.concepts, self.habits
        return sum(len(some) for some in every)
