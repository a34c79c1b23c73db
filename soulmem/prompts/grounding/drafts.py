"""Which drafts of an answer does the passage bear out?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from soulmem.domain.drafts import (
    DraftAbstract,
    DraftConcept,
    DraftEpisode,
    DraftFact,
    DraftHabit,
    Drafts,
    Lines,
    Passage,
)
from soulmem.domain.llm import Unreadable
from soulmem.domain.situation import ConceptType, Emotion, Participant, ParticipantKind
from soulmem.language.scripts import is_unspaced
from soulmem.prompts.grounding.claims import Claims, Truth
from soulmem.prompts.grounding.evidence import (
    EvidenceParams,
    Grounds,
    is_label_like,
    is_name_like,
)
from soulmem.prompts.grounding.faithfulness import Faithfulness
from soulmem.prompts.grounding.passage_words import is_common
from soulmem.prompts.reading import fields

T = TypeVar("T")

_LISTS = ("episodes", "kinds", "facts", "concepts", "habits")
_BREAK = re.compile("[，,；;。！!?？]")
_MOST = 12  # drafts of one sort; more is a model that runs on
_EVERYBODY = 3  # subjects of one fact in other words than the passage's; of so many it is said of none
_SIGNS = 4  # of Chinese, that are several words
_IMPORTANCE = 0.5  # of what the model gives none for
_ME = {
    "i",
    "me",
    "my",
    "myself",
    "we",
    "我",
    "自己",
    "我自己",
    "本人",
    "{{char}}",
    "char",
    "character",
    "角色",
    "该角色",
}
_YOU = {"you", "user", "the user", "{{user}}", "你", "您", "用户"}
_ABSTRACT = {"abstract", "idea", "emotion", "feeling", "抽象", "概念", "情感"}


class _Dropped(Exception):
    """A draft that does not stand; the reason."""


class Drafting:
    """Reads the lists of one answer about one passage."""

    def __init__(
        self, passage: Passage, form: str = "", params: EvidenceParams | None = None
    ) -> None:
        """`form` is what the model was told to write: what it repeats of that is no draft."""
        self._passage = passage
        self._form = form.casefold()
        self._params = params or EvidenceParams()
        self._grounds = Grounds(passage, self._params)
        self._claims = Claims(passage)
        self._faithfulness = Faithfulness(passage)
        self._dropped: list[str] = []
        self._mended = 0
        self._reworded: list[DraftFact] = []
        self._spoilt = ""

    def drafts(self, answer: Mapping[str, Any]) -> Drafts:
        """All that stands.

        Raises Unreadable when nothing is of the right type, or nothing stands and something came in a foreign
        script or without what makes a draft: the model was cut short, or does not keep to the form.
        """
        lists = {
            key: fields.objects(answer[key], "subject")
            for key in _LISTS
            if key in answer
        }
        if all(items is None for items in lists.values()):
            raise Unreadable(
                "no list of drafts: " + ", ".join(lists) + " of the wrong type"
            )
        drafts = Drafts(
            episodes=self._each(lists.get("episodes"), self._episode, lambda d: d.text),
            abstracts=self._each(lists.get("kinds"), self._abstract, lambda d: d.text),
            facts=self._each(
                lists.get("facts"), self._fact, lambda d: (d.subject, d.verb, d.object)
            ),
            concepts=self._each(lists.get("concepts"), self._concept, lambda d: d.name),
            habits=self._each(
                lists.get("habits"), self._habit, lambda d: (d.when, d.action)
            ),
        )
        drafts = self._believed(self._of_somebody(drafts))
        if self._spoilt and not drafts.count:
            raise Unreadable(self._spoilt)
        return drafts

    def _each(
        self,
        items: Iterable[Mapping[str, Any]] | None,
        read: Callable[[Mapping[str, Any]], T],
        key: Callable[[T], object],
    ) -> tuple[T, ...]:
        out: dict[object, T] = {}
        for item in list(items or ())[:_MOST]:
            try:
                draft = read(item)
            except _Dropped as reason:
                self._dropped.append(str(reason))
            else:
                out.setdefault(_folded(key(draft)), draft)
        return tuple(out.values())

    def _episode(self, item: Mapping[str, Any]) -> DraftEpisode:
        text, was_wrong = self._faithfulness.kept(
            self._text(item, "text", least_overlap=self._params.overlap)
        )
        if not text:
            raise _Dropped("a text that the lines do not say, or of others")
        if not self._faithfulness.can_be_looked_up(text):
            raise _Dropped(
                "a text of little words, of which no line can be told to say it"
            )
        self._mended += was_wrong
        return DraftEpisode(
            text=text,
            lines=self._lines(fields.numbers(item.get("lines")), text),
            importance=fields.share(item.get("importance"), _IMPORTANCE),
            story_time=self._own(item.get("time")),
            location=self._place(item.get("place")),
            participants=self._people(item.get("people")),
            emotions=self._feelings(item.get("feelings")),
            sensations=tuple(
                s for s in fields.labels(item.get("senses")) if self._is_told(s)
            ),
            situation=self._own(item.get("background"), fields.text),
            anchors=tuple(
                word for word in fields.labels(item.get("keep")) if word in text
            ),
        )

    def _abstract(self, item: Mapping[str, Any]) -> DraftAbstract:
        text = self._text(item, "text")
        return DraftAbstract(
            text,
            self._lines(fields.numbers(item.get("lines")), text),
            fields.share(item.get("importance"), _IMPORTANCE),
        )

    def _fact(self, item: Mapping[str, Any]) -> DraftFact:
        self._need(item, "subject", "verb", "object")
        subject, thing = (
            self._name(item.get("subject")),
            self._name(item.get("object")) or "",
        )
        verb = fields.label(_BREAK.split(str(item.get("verb")))[0])
        if subject is None or verb is None:
            raise _Dropped("a fact without subject or verb")
        if not self._grounds.holds(subject):
            raise _Dropped("a fact about a name that stands nowhere in the passage")
        if self._is_of_the_form(verb):
            raise _Dropped("a verb of the form itself")
        self._check_script(f"{verb} {thing}")
        claim = self._claims.of(subject, verb, thing)
        if claim.truth is Truth.DENIED:
            raise _Dropped(
                "a fact whose words the passage says of somebody or something else"
            )
        subject, verb, thing = claim.subject, claim.verb, claim.object
        if _folded(subject) == _folded(thing):
            raise _Dropped("a fact of somebody and the same")
        if not (self._grounds.holds(thing) or self._is_told(thing)):
            raise _Dropped("a fact with an object that stands nowhere in the passage")
        if self._grounds.unknown_names(f"{subject} {verb} {thing}"):
            raise _Dropped("a fact with a name that stands nowhere in the passage")
        if claim.truth is Truth.REWORDED and not self._grounds.can_be_said_of(
            subject, f"{verb} {thing}"
        ):
            raise _Dropped("a fact that is said of somebody else")
        self._mended += claim.truth is Truth.MENDED
        cited = claim.lines or fields.numbers(item.get("lines"))
        draft = DraftFact(
            subject=subject,
            verb=verb,
            object=thing,
            intensity=fields.share(item.get("strength"), 0.5),
            confidence=fields.share(item.get("sure"), 0.5),
            lines=self._lines(cited, f"{subject} {verb} {thing}", (subject, thing)),
            importance=fields.share(item.get("importance"), _IMPORTANCE),
            is_over=fields.truth(item.get("over")),
        )
        if claim.truth is Truth.REWORDED:
            self._reworded.append(draft)
        return draft

    def _of_somebody(self, drafts: Drafts) -> Drafts:
        """Without what is said in other words of everybody: a model at a loss says one thing of each name."""
        reworded = [fact for fact in drafts.facts if fact in self._reworded]
        times_said = Counter(_folded((fact.verb, fact.object)) for fact in reworded)
        lost = [
            fact
            for fact in reworded
            if times_said[_folded((fact.verb, fact.object))] >= _EVERYBODY
        ]
        self._dropped += ["a fact that is told of everybody"] * len(lost)
        facts = tuple(fact for fact in drafts.facts if fact not in lost)
        return replace(drafts, facts=facts, dropped=tuple(self._dropped))

    def _believed(self, drafts: Drafts) -> Drafts:
        """What is said in other words than the passage's stands as far as the rest of the answer does."""
        wrong = self._mended + len(self._dropped)
        if wrong <= self._params.wrong * (drafts.count + len(self._dropped)):
            return drafts
        facts = tuple(fact for fact in drafts.facts if fact not in self._reworded)
        copied_texts = (
            (episode, self._grounds.copied(episode.text)) for episode in drafts.episodes
        )
        borne = (
            (episode, text, self._grounds.lines_of((), text))
            for episode, text in copied_texts
            if text
        )
        episodes = tuple(
            replace(episode, text=text, lines=lines)
            for episode, text, lines in borne
            if lines
        )
        lost = len(drafts.facts) - len(facts) + len(drafts.episodes) - len(episodes)
        dropped = [
            "in words that nobody said, of an answer that is wrong elsewhere"
        ] * lost
        return replace(
            drafts, facts=facts, episodes=episodes, dropped=(*drafts.dropped, *dropped)
        )

    def _concept(self, item: Mapping[str, Any]) -> DraftConcept:
        self._need(item, "name")
        name = self._name(item["name"])
        if name is None:
            raise _Dropped("a concept without a name")
        if not self._grounds.holds(name):
            raise _Dropped("a concept whose name stands nowhere in the passage")
        if is_common(name):
            raise _Dropped("a concept of a word that every text has")
        kind = str(item.get("type", "")).strip().lower()
        aliases = (
            alias
            for alias in fields.labels(item.get("aliases"))
            if self._grounds.holds(alias)
        )
        about = self._own(item.get("about"), fields.text)
        if about is not None and not self._grounds.can_be_said_of(name, about):
            about = None
        return DraftConcept(
            name=name,
            concept_type=ConceptType.ABSTRACT
            if kind in _ABSTRACT
            else ConceptType.ENTITY,
            lines=self._lines(
                fields.numbers(item.get("lines")), about or name, (name,)
            ),
            importance=fields.share(item.get("importance"), _IMPORTANCE),
            aliases=tuple(
                alias for alias in aliases if alias.casefold() != name.casefold()
            ),
            description=about,
        )

    def _habit(self, item: Mapping[str, Any]) -> DraftHabit:
        when, action = self._text(item, "when"), self._text(item, "does")
        soul, plain = self._passage.soul, action.casefold()
        others = {
            *self._passage.users,
            *(line.speaker for line in self._passage.lines),
        } - {soul}
        if any(name and plain.startswith(name.casefold()) for name in others):
            raise _Dropped("a habit of somebody else")
        lines = self._grounds.shown(fields.numbers(item.get("lines")), action, soul)
        if not lines:
            raise _Dropped("no lines of the character bear it out")
        return DraftHabit(
            when=when,
            action=action,
            probability=fields.share(item.get("chance"), 0.5),
            lines=lines,
            importance=fields.share(item.get("importance"), _IMPORTANCE),
        )

    def _text(
        self, item: Mapping[str, Any], key: str, least_overlap: float = 0.0
    ) -> str:
        """A sentence that must stand; at least the share `least_overlap` of it in the passage's words."""
        self._need(item, key)
        text = fields.text(item[key])
        if text is None:
            raise _Dropped(f"no text under {key!r}")
        if text.casefold() in self._form:
            raise _Dropped("a text of the form itself")
        text = self._without_speaker(text)
        self._check_script(text)
        text = self._grounds.honest(text)
        if not text:
            raise _Dropped("a text that names somebody unknown, or is somebody else's")
        if self._grounds.share(text) < least_overlap:
            raise _Dropped("a text that has nothing to do with the passage")
        return text

    def _is_of_the_form(self, verb: str) -> bool:
        """Whether these are several words of what the model was told to write, and not of the lines."""
        several = len(verb) >= _SIGNS if is_unspaced(verb) else " " in verb
        return (
            several and verb.casefold() in self._form and not self._grounds.holds(verb)
        )

    def _need(self, item: Mapping[str, Any], *keys: str) -> None:
        if any(key not in item for key in keys):
            self._spoilt = "drafts without " + ", ".join(keys)
            raise _Dropped(self._spoilt)

    def _without_speaker(self, text: str) -> str:
        """A line that was copied with its head is that line."""
        head, colon, rest = text.replace("：", ":", 1).partition(":")
        speakers = {line.speaker.casefold() for line in self._passage.lines}
        return (
            rest.strip()
            if colon and rest.strip() and head.strip().casefold() in speakers
            else text
        )

    def _check_script(self, text: str) -> None:
        if self._grounds.is_foreign(text):
            self._spoilt = "drafts in another script than the chat's"
            raise _Dropped("a text in another script than the chat's")

    def _lines(
        self, cited: Iterable[int], text: str, names: Iterable[str] = ()
    ) -> Lines:
        lines = self._grounds.lines_of(cited, text, names)
        if not lines:
            raise _Dropped("no lines of the passage bear it out")
        return lines

    def _name(self, value: Any) -> str | None:
        """A name; the character and the user are called by theirs."""
        name = fields.label(value)
        if name is None:
            return None
        if name.casefold() in _ME:
            return self._passage.soul
        if name.casefold() in _YOU and len(self._passage.users) == 1:
            return self._passage.users[0]
        return name

    def _own(
        self, value: Any, read: Callable[[Any], str | None] = fields.label
    ) -> str | None:
        """A detail, if the passage tells it."""
        detail = read(value)
        return detail if detail is not None and self._is_told(detail) else None

    def _is_told(self, text: str) -> bool:
        """Whether the passage tells it, and not only our form."""
        return text.casefold() not in self._form and self._grounds.tells(text)

    def _place(self, value: Any) -> str | None:
        """A place is nobody."""
        place = self._own(value)
        return (
            None
            if place is None or self._kind(place) is not ParticipantKind.UNKNOWN
            else place
        )

    def _people(self, value: Any) -> tuple[Participant, ...]:
        labels = (name for name in fields.labels(value) if is_name_like(name))
        names = (
            self._name(name) for name in labels if not self._grounds.is_gesture(name)
        )
        people = dict.fromkeys(
            name for name in names if name and self._grounds.holds(name)
        )
        return tuple(Participant(name, self._kind(name)) for name in people)

    def _kind(self, name: str) -> ParticipantKind:
        plain = name.casefold()
        if plain == self._passage.soul.casefold():
            return ParticipantKind.SELF
        people = {*self._passage.users, *(line.speaker for line in self._passage.lines)}
        return (
            ParticipantKind.OTHER
            if plain in map(str.casefold, people)
            else ParticipantKind.UNKNOWN
        )

    def _feelings(self, value: Any) -> tuple[Emotion, ...]:
        out: dict[str, Emotion] = {}
        for part in value if isinstance(value, list) else [value]:
            feeling = part if isinstance(part, Mapping) else {"label": part}
            for label in filter(
                self._is_feeling, fields.labels(feeling.get("label"), 20)
            ):
                out.setdefault(
                    label.casefold(),
                    Emotion(label, fields.share(feeling.get("intensity"), 0.5)),
                )
        return tuple(out.values())[:4]

    def _is_feeling(self, label: str) -> bool:
        return is_label_like(label) and not self._grounds.is_gesture(label)


def _folded(key: object) -> object:
    return tuple(map(_folded, key)) if isinstance(key, tuple) else str(key).casefold()
