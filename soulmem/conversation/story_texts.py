"""The messages of a chat as their stories tell them: also without what message after message repeats.

A function of the messages alone, so that a memory of them is what a replay of them gives.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from soulmem.domain.dialogue import Message, Role
from soulmem.domain.sequences import Grown, common_ends
from soulmem.domain.story_text import LeftOut, LeftOutKind, MacroNames, StoryText
from soulmem.language.story.leaving_out import skeletons, story_text

_AROUND = 16  # messages on either side that a message is compared with
_REPEATED = 2  # of these that have the same line of data


@dataclass(frozen=True, slots=True)
class _ReadChat:
    """Messages of a chat, and the same with their stories as texts."""

    persona: str = ""
    messages: Grown[Message] = field(default_factory=Grown)
    stories: Grown[Message] = field(default_factory=Grown)


class StoryTexts:
    """Gives the stories of a chat; reads only what changed since the last call. Safe in any thread."""

    def __init__(self) -> None:
        self._read_chat = _ReadChat()
        self._lock = Lock()

    def of(self, messages: Sequence[Message], persona: str) -> Grown[Message]:
        """The messages with their stories as texts; one that is all story is the same object.

        persona  the user's name, for macros of a message far from the user's own
        """
        listed = messages if isinstance(messages, Grown) else Grown(messages)
        with self._lock:
            old = self._read_chat if self._read_chat.persona == persona else _ReadChat(persona)
            if old.messages is not listed:
                old = _ReadChat(persona, listed, _continued(old, listed, persona))
                self._read_chat = old
            return old.stories


def as_story(message: Message) -> Message:
    """The message with its story as text, as far as it can be told without the messages around."""
    return _with_story(message, _read(message, None, frozenset()))


def _continued(old: _ReadChat, messages: Grown[Message], persona: str) -> Grown[Message]:
    """The stories of `messages`: those of `old` as far as nothing near them changed."""
    prefix, suffix = common_ends(old.messages, messages)
    if prefix == len(old.messages) == len(messages):
        return old.stories
    first = max(0, prefix - _AROUND)
    stop = min(len(messages), len(messages) - suffix + _AROUND)
    start, end = max(0, first - _AROUND), min(len(messages), stop + _AROUND)
    around = _Neighbours(messages[start:end], persona)
    fresh = [around.story(index - start) for index in range(first, stop)]
    behind = old.stories[len(old.stories) - (len(messages) - stop) :]
    kept = old.stories.first(first)
    if fresh[: prefix - first] == list(old.stories[first:prefix]):
        kept, fresh = old.stories.first(prefix), fresh[prefix - first :]
    return kept.extended([*fresh, *behind])


class _Neighbours:
    """A stretch of a chat, in which each message is read beside those around it."""

    def __init__(self, messages: Sequence[Message], persona: str) -> None:
        self._messages = messages
        self._persona = persona
        self._skeletons: dict[int, frozenset[str]] = {}
        self._names = {_folded(message.speaker) for message in messages}
        self._names.add(_folded(persona))

    def story(self, index: int) -> Message:
        """The message at `index` with its story as text."""
        message = self._messages[index]
        if message.role is Role.SYSTEM:
            return message
        return _with_story(message, _read(message, self._macro_names(index), self._repeated(index)))

    def _repeated(self, index: int) -> frozenset[str]:
        """What of the message's lines of data stands in messages around it, too."""
        own = self._kept(index)
        if not own:
            return frozenset()
        counts: Counter[str] = Counter()
        for other in self._around(index):
            if self._messages[other].role is self._messages[index].role:
                counts.update(own & self._kept(other))
        return frozenset(key for key in own if counts[key] >= _REPEATED)

    def _kept(self, index: int) -> frozenset[str]:
        known = self._skeletons.get(index)
        if known is None:
            # Who speaks stands before words of his in a script, in message after message.
            known = skeletons(_shown(self._messages[index])) - self._names
            self._skeletons[index] = known
        return known

    def _around(self, index: int) -> Iterator[int]:
        """The messages near this one, the nearest first."""
        for distance in range(1, _AROUND + 1):
            for other in (index - distance, index + distance):
                if 0 <= other < len(self._messages):
                    yield other

    def _macro_names(self, index: int) -> MacroNames:
        user = self._speaker(index, Role.USER) or self._persona
        return MacroNames(user, self._speaker(index, Role.CHARACTER))

    def _speaker(self, index: int, role: Role) -> str:
        """The speaker of that role nearest to the message; empty for none."""
        for near in (index, *self._around(index)):
            message = self._messages[near]
            if message.role is role and message.speaker.strip():
                return message.speaker
        return ""


def _shown(message: Message) -> str:
    return message.text if message.story is None else message.story


def _read(message: Message, names: MacroNames | None, repeated: frozenset[str]) -> StoryText:
    return story_text(_shown(message), names, repeated)


def _with_story(message: Message, story: StoryText) -> Message:
    if story.text == message.text:
        return message
    left_out = story.left_out
    if message.story is not None:
        left_out = (*left_out, *_not_shown(message.text, message.story))
    return replace(message, text=story.text, story=None, left_out=left_out)


def _not_shown(text: str, story: str) -> Iterator[LeftOut]:
    """What the client's prompt leaves out of a text: all between what both begin and end with."""
    start, end = common_ends(text, story)
    if end + start < len(text):
        yield LeftOut(LeftOutKind.REST, start, len(text) - end)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()
