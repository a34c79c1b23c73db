"""ChatDigest: the digest of a chat's first messages, which hashes only what was added since the last call."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from soulmem.domain.dialogue import Message, digest_lines
from soulmem.domain.sequences import Grown


class ChatDigest:
    """Gives what `digest` gives. Messages that begin with those of the last call are hashed from there on."""

    def __init__(self) -> None:
        self._messages: Grown[Message] = Grown()
        self._hash = hashlib.sha256()

    def of(self, messages: Sequence[Message]) -> str:
        """SHA-256 hex of the messages, as `digest`."""
        count = len(self._messages)
        if self._messages != messages[:count]:
            self._hash, self._messages, count = hashlib.sha256(), Grown(), 0
        self._hash.update(digest_lines(messages[count:]).encode())
        self._messages = messages if isinstance(messages, Grown) else Grown(messages)
        return self._hash.hexdigest()
