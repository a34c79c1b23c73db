"""Reads the drafts of an answer: hard rules that need no language, and a confidence for what passes them.

Out is what cites no line that exists, names somebody unknown, is in another script, repeats the form or
itself, or has nothing of its lines. Everything else stands as far as its lines carry it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
from soulmem.domain.phrases import Phrase, phrase
from soulmem.domain.situation import ConceptType, Emotion, Participant, ParticipantKind
from soulmem.language.function_words import ENGLISH, NOBODY
from soulmem.language.scripts import is_unspaced
from soulmem.prompts.grounding.evidence import Grounds
from soulmem.prompts.grounding.support import MOST_STRICT, Support
from soulmem.prompts.reading import fields

T = TypeVar("T")

_LISTS = ("episodes", "kinds", "facts", "concepts", "habits")
_MOST = 12  # drafts of one sort; more is a model that runs on
_SURE = 0.5  # confidence that a copied description needs in a strict reading
_IMPORTANCE = 0.5  # of what the model gives none for
_MOST_FEELINGS = 4
_FEELING = 20  # signs that the name of a feeling may have


class _Dropped(Exception):
    """A draft that does not stand; the reason."""


class Drafting:
    """Reads the lists of one answer about one passage."""

    def __init__(self, passage: Passage, form: str = "", *, is_strict: bool = False) -> None:
        """`form` is what the model was told to write: what it repeats of that is no draft. A strict reading
        trusts copied words alone.
        """
        self._passage = passage
        self._form = form.casefold()
        self._grounds = Grounds(passage)
        self._is_strict = is_strict
        self._support = Support(passage, self._grounds, is_strict=is_strict)
        self._dropped: list[str] = []
        self._spoilt: Phrase | None = None

    def drafts(self, answer: Mapping[str, Any]) -> Drafts:
        """All that stands.

        Raises Unreadable when nothing is of the right type, or nothing stands and something came in a foreign
        script or without what makes a draft: the model was cut short, or does not keep to the form.
        """
        lists = {key: fields.objects(answer[key]) for key in _LISTS if key in answer}
        if all(items is None for items in lists.values()):
            raise Unreadable(
                phrase(
                    "drafts_no_list",
                    "no list of drafts: {lists} of the wrong type",
                    lists=", ".join(lists),
                )
            )
        self._support = Support(
            self._passage,
            self._grounds,
            _named(lists),
            is_strict=self._is_strict,
        )
        drafts = Drafts(
            episodes=self._each(lists.get("episodes"), self._episode, lambda d: d.text),
            abstracts=self._each(lists.get("kinds"), self._abstract, lambda d: d.text),
            facts=self._each(
                lists.get("facts"), self._fact, lambda d: (d.subject, d.verb, d.object)
            ),
            concepts=self._each(lists.get("concepts"), self._concept, lambda d: d.name),
            habits=self._each(lists.get("habits"), self._habit, lambda d: (d.when, d.action)),
            dropped=tuple(self._dropped),
        )
        if self._spoilt is not None and not drafts.count:
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
        text = self._text(item, "text")
        lines, confidence = self._carried(item, text)
        return DraftEpisode(
            text=text,
            lines=lines,
            confidence=confidence,
            importance=fields.share(item.get("importance"), _IMPORTANCE),
            story_time=self._own(item.get("time")),
            location=self._own(item.get("place")),
            participants=self._people(item.get("people")),
            emotions=self._feelings(item.get("feelings")),
            sensations=tuple(s for s in fields.labels(item.get("senses")) if self._is_told(s)),
            situation=self._own(item.get("background"), fields.text),
            anchors=tuple(word for word in fields.labels(item.get("keep")) if word in text),
        )

    def _abstract(self, item: Mapping[str, Any]) -> DraftAbstract:
        if self._is_strict:  # which trusts copies alone, and a copied line is no kind
            raise _Dropped("a kind, of a model that failed its test")
        text = self._text(item, "text")
        if self._grounds.repeats(text):
            raise _Dropped("a kind that only repeats a line")
        lines = self._cited(item)
        return DraftAbstract(
            text,
            self._grounds.lines_of(lines, text) or lines,
            fields.share(item.get("importance"), _IMPORTANCE),
        )

    def _fact(self, item: Mapping[str, Any]) -> DraftFact:
        self._need(item, "subject", "verb", "object")
        subject = fields.label(item["subject"])
        thing = fields.label(item["object"], fields.LONGEST_PHRASE)
        verb = fields.label(item["verb"], fields.LONGEST_PHRASE)
        if subject is None or verb is None or thing is None:
            raise _Dropped("a fact without subject, verb or object")
        if _folded(subject) == _folded(thing):
            raise _Dropped("a fact of somebody and the same")
        if subject.casefold() in NOBODY or self._support.is_anybody(subject):
            raise _Dropped("a fact of somebody without a name")
        if not self._grounds.knows(subject):
            raise _Dropped("a fact about a name that stands nowhere in the passage")
        space = "" if is_unspaced(subject + verb + thing) else " "
        sentence = space.join((subject, verb, thing))
        self._check(f"{verb}{space}{thing}")
        self._check(sentence)
        lines, confidence = self._carried(item, sentence, (subject, thing), verb, thing)
        is_over = item.get("over") is True
        if is_over:
            confidence = min(confidence, self._support.of_end(sentence, lines))
        return DraftFact(
            subject=subject,
            verb=verb,
            object=thing,
            intensity=fields.share(item.get("strength"), 0.5),
            confidence=confidence,
            lines=lines,
            importance=fields.share(item.get("importance"), _IMPORTANCE),
            is_over=is_over,
        )

    def _concept(self, item: Mapping[str, Any]) -> DraftConcept:
        self._need(item, "name")
        name = fields.label(item["name"])
        if name is None:
            raise _Dropped("a concept without a name")
        if not self._grounds.holds(name):
            raise _Dropped("a concept whose name stands nowhere in the passage")
        if name.casefold() in NOBODY or name.casefold() in ENGLISH:
            raise _Dropped("a concept of a word that every text has")
        aliases = (
            alias for alias in fields.labels(item.get("aliases")) if self._grounds.holds(alias)
        )
        about = self._description(item, name)
        lines = self._cited(item)
        is_abstract = item.get("type") == ConceptType.ABSTRACT.value
        return DraftConcept(
            name=name,
            concept_type=ConceptType.ABSTRACT if is_abstract else ConceptType.ENTITY,
            lines=self._grounds.lines_of(lines, about or name, (name,)) or lines,
            importance=fields.share(item.get("importance"), _IMPORTANCE),
            aliases=tuple(alias for alias in aliases if alias.casefold() != name.casefold()),
            description=about,
        )

    def _description(self, item: Mapping[str, Any], name: str) -> str | None:
        """What the model says of the concept, unless its lines have nothing of it."""
        about = fields.text(item.get("about"))
        if about is None or about.casefold() in self._form:
            return None
        if self._grounds.is_foreign(about) or self._grounds.is_strange(about):
            return None
        space = "" if is_unspaced(about) else " "
        confidence = self._support.of(f"{name}{space}{about}", self._cited(item))
        is_copied = confidence >= _SURE and self._grounds.has(about)
        if self._is_strict and not is_copied:
            return None
        return about if confidence > 0.0 else None

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

    def _text(self, item: Mapping[str, Any], key: str) -> str:
        """A sentence that must stand."""
        self._need(item, key)
        text = fields.text(item[key])
        if text is None:
            raise _Dropped(f"no text under {key!r}")
        if text.casefold() in self._form:
            self._spoilt = phrase("drafts_of_form", "drafts in words of the form itself")
            raise _Dropped(str(self._spoilt))
        self._check_script(text)
        text = self._grounds.honest(text)
        if not text:
            raise _Dropped("a text that names somebody unknown")
        return text

    def _check(self, words: str) -> None:
        """Raises _Dropped for words of the form, of another script or with unknown names."""
        if words.casefold() in self._form:
            raise _Dropped("words of the form itself")
        self._check_script(words)
        if self._grounds.is_strange(words):
            raise _Dropped("a fact with a name that stands nowhere in the passage")

    def _need(self, item: Mapping[str, Any], *keys: str) -> None:
        if any(key not in item for key in keys):
            self._spoilt = phrase("drafts_without", "drafts without {keys}", keys=", ".join(keys))
            raise _Dropped(str(self._spoilt))

    def _check_script(self, text: str) -> None:
        if self._grounds.is_foreign(text):
            self._spoilt = phrase("drafts_foreign", "drafts in another script than the chat's")
            raise _Dropped("a text in another script than the chat's")

    def _cited(self, item: Mapping[str, Any]) -> Lines:
        lines = self._grounds.cited(fields.numbers(item.get("lines")))
        if not lines:
            raise _Dropped("no lines of the passage bear it out")
        return lines

    def _carried(
        self,
        item: Mapping[str, Any],
        text: str,
        names: Iterable[str] = (),
        verb: str = "",
        thing: str = "",
    ) -> tuple[Lines, float]:
        """The evidence of a text, and how far the lines that it cites carry it."""
        cited = self._cited(item)
        confidence = self._support.of(text, cited, verb, thing)
        lines = self._grounds.lines_of(cited, text, names)
        if not lines or confidence == 0.0:
            raise _Dropped("its lines say nothing of it")
        most = MOST_STRICT if self._is_strict else 1.0
        return lines, round(min(most, confidence), 3)

    def _own(self, value: Any, read: Callable[[Any], str | None] = fields.label) -> str | None:
        """A detail, if the passage tells it."""
        detail = read(value)
        return detail if detail is not None and self._is_told(detail) else None

    def _is_told(self, text: str) -> bool:
        """Whether the passage tells it, and not only our form."""
        return text.casefold() not in self._form and self._grounds.tells(text)

    def _people(self, value: Any) -> tuple[Participant, ...]:
        people = (name for name in fields.labels(value) if self._grounds.holds(name))
        return tuple(Participant(name, self._kind(name)) for name in people)

    def _kind(self, name: str) -> ParticipantKind:
        plain = name.casefold()
        if plain == self._passage.soul.casefold():
            return ParticipantKind.SELF
        people = {*self._passage.users, *(line.speaker for line in self._passage.lines)}
        return (
            ParticipantKind.OTHER if plain in map(str.casefold, people) else ParticipantKind.UNKNOWN
        )

    def _feelings(self, value: Any) -> tuple[Emotion, ...]:
        out: dict[str, Emotion] = {}
        for part in fields.objects(value) or ():
            if feeling := fields.label(part.get("label"), _FEELING):
                intensity = fields.share(part.get("intensity"), 0.5)
                out.setdefault(feeling.casefold(), Emotion(feeling, intensity))
        return tuple(out.values())[:_MOST_FEELINGS]


def _named(
    lists: Mapping[str, list[Mapping[str, Any]] | None],
) -> Iterator[str]:
    """The names that facts of an answer are of."""
    for item in list(lists.get("facts") or ())[:_MOST]:
        if name := fields.label(item.get("subject")):
            yield name


def _folded(key: object) -> object:
    return tuple(map(_folded, key)) if isinstance(key, tuple) else str(key).casefold()
