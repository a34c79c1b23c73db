"""All errors that SoulMem raises: one tree, each class with a stable `code`, no HTTP."""

from __future__ import annotations

from soulmem.domain.phrases import Phrase, Wording, phrase


class SoulMemError(Exception):
    """An error the caller can act on. `field` is the path of the offending value."""

    code = "error"

    def __init__(self, wording: Wording, *, field: str | None = None) -> None:
        super().__init__(str(wording))
        self.wording = wording
        self.field = field

    @property
    def message(self) -> str:
        """The text in English."""
        return str(self.wording)

    @property
    def phrase(self) -> Phrase | None:
        """The text with its code and values; None where it has no other language."""
        return self.wording if isinstance(self.wording, Phrase) else None

    @property
    def with_field(self) -> str:
        """The message, with the field where it does not name it: for readers who see nothing else."""
        if self.field is None or self.field in self.message:
            return self.message
        return f"{self.message} (in {self.field})"


class BadRequest(SoulMemError):
    """The request cannot be read at all."""

    code = "bad_request"


class Unauthorized(SoulMemError):
    """A token is missing or wrong."""

    code = "unauthorized"


class Forbidden(SoulMemError):
    """The request is refused: an unknown page, or a protected memory."""

    code = "forbidden"


class NotFound(SoulMemError):
    """Nothing has that id."""

    code = "not_found"


class Conflict(SoulMemError):
    """The caller's state is out of date: read again, then repeat."""

    code = "conflict"


class ConfirmationRequired(SoulMemError):
    """The request is carried out only if repeated with a confirmation."""

    code = "confirmation_required"


class TooLarge(SoulMemError):
    """The request is larger than the limit."""

    code = "too_large"


class Unprocessable(SoulMemError):
    """Readable, but a value is not valid."""

    code = "unprocessable"


class Busy(SoulMemError):
    """Temporarily impossible; the same request may succeed later."""

    code = "busy"


class ModelUnavailable(SoulMemError):
    """An embedding model is neither on disk nor can it be fetched."""

    code = "model_unavailable"


class StoreError(Busy):
    """The database cannot do what was asked; nothing was changed."""

    code = "busy"


class StoreLocked(StoreError):
    """Another SoulMem process holds the data folder."""


class StoreReadOnly(StoreError):
    """The data folder cannot be written."""


class StoreFull(StoreError):
    """The disk is full."""


class StoreGone(StoreError):
    """The data folder was removed while in use."""


class Protected(StoreError):
    """The memory is permanent or locked, and the change was not made by the user."""

    code = "forbidden"


class StoreTooNew(StoreError):
    """The data folder was written by a newer SoulMem."""


class StoreTooOld(StoreError):
    """The data folder was written by an older SoulMem."""


class StoreDamaged(StoreError):
    """A stored row cannot be read: what it belongs to is left as it is, and the rest is served.

    what  the row, and why it cannot be read
    """

    def __init__(self, what: str, whose: str) -> None:
        words = phrase(
            "memory_unreadable",
            "the memory of '{whose}' cannot be read ({what}). Nothing of it is changed, and other characters"
            " have theirs. To have it back, stop SoulMem and restore a backup (soulmem restore --newest)",
            whose=whose,
            what=what,
        )
        super().__init__(words)
        self.what, self._whose = what, whose

    def again(self) -> StoreDamaged:
        """The same error, to be raised once more."""
        return StoreDamaged(self.what, self._whose)


class StoreBroken(StoreError):
    """The data folder cannot be read."""


def no_memory(memory: str, field: str | None = None) -> NotFound:
    """The error for a memory that the soul does not have."""
    words = phrase("no_memory", "no memory '{memory}'", memory=memory)
    return NotFound(words, field=field)


def model_of_main_user() -> Forbidden:
    """The error for another user than the main one, who wants to choose or fetch a model."""
    return Forbidden(
        phrase(
            "model_main_user",
            "the model is the same for all users: only the main user of this SoulMem can choose it",
        )
    )


def span_backwards(field: str) -> Unprocessable:
    """The error for a span of time whose end, in this field, is not after its start."""
    words = phrase("range_backwards", "the span ends before it begins")
    return Unprocessable(words, field=field)


def no_soul(soul: str, field: str) -> NotFound:
    """The error for a soul that its owner does not have."""
    words = phrase(
        "no_soul",
        "no soul '{soul}': create it with PUT /v1/souls/{soul}",
        soul=soul,
    )
    return NotFound(words, field=field)


def no_chat(chat: str, field: str) -> NotFound:
    """The error for a chat that its owner does not have."""
    words = phrase("no_chat", "no chat '{chat}': send it with PUT /v1/chats/{chat}", chat=chat)
    return NotFound(words, field=field)


def fault(error: Exception) -> Phrase:
    """What the user is told of an error of SoulMem itself; its message may quote a chat and is left out."""
    return phrase(
        "fault",
        "SoulMem failed ({error}): the log shows where; please report it",
        error=type(error).__name__,
    )
