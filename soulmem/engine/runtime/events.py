"""Publishes events to listeners; events are not stored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from soulmem.domain.errors import Busy
from soulmem.domain.ids import Owner
from soulmem.domain.phrases import phrase

_LISTENERS = 32  # at once, of all owners
_WAITING = 256  # unread events of one listener before it loses some


@dataclass(frozen=True, slots=True)
class Event:
    """`kind` is phase, job, memory, deletion, llm, or missed: some were lost, so read
    everything again.
    """

    kind: str
    data: Mapping[str, Any]


MISSED = Event("missed", {})
Listener = asyncio.Queue["Event | None"]  # None: no more events


class Events:
    """The listeners of all owners. Used on the event loop alone."""

    def __init__(self) -> None:
        self._listeners: dict[Listener, Owner] = {}
        self._closed = False

    def publish(self, kind: str, owner: Owner | None = None, **data: Any) -> None:
        """Send an event to the owner's listeners, or with None to all. Never waits."""
        for listener, whose in self._listeners.items():
            if owner in (None, whose):
                _put(listener, Event(kind, data))

    @contextmanager
    def listen(self, owner: Owner) -> Iterator[Listener]:
        """A queue of events from now on. Raises Busy when there are too many listeners."""
        self.check_room()
        listener: Listener = asyncio.Queue()
        if self._closed:
            listener.put_nowait(None)
        self._listeners[listener] = owner
        try:
            yield listener
        finally:
            del self._listeners[listener]

    def check_room(self) -> None:
        """Raises Busy when there are too many listeners."""
        if len(self._listeners) >= _LISTENERS:
            raise Busy(
                phrase(
                    "too_many_listeners",
                    "{listeners} listen already: close some of them",
                    listeners=_LISTENERS,
                )
            )

    def close(self) -> None:
        """End all listeners' queues."""
        self._closed = True
        for listener in self._listeners:
            listener.put_nowait(None)


def _put(listener: Listener, event: Event) -> None:
    if listener.qsize() < _WAITING:
        listener.put_nowait(event)
    elif listener.qsize() == _WAITING:
        listener.put_nowait(MISSED)
