"""Which errors SoulMem raises: one tree, each class with a stable `code`; low layers never know HTTP."""

from __future__ import annotations


class SoulMemError(Exception):
    """Something went wrong in a way the caller can act on. `field` is the path of the offending value."""

    code = "error"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class BadRequest(SoulMemError):
    """The request cannot be read at all."""

    code = "bad_request"


class Unauthorized(SoulMemError):
    """A token is needed and missing or wrong."""

    code = "unauthorized"


class Forbidden(SoulMemError):
    """Understood and refused: a stranger, or a protected memory."""

    code = "forbidden"


class NotFound(SoulMemError):
    """Nothing has that id."""

    code = "not_found"


class Conflict(SoulMemError):
    """The caller's picture is stale: read again, then repeat."""

    code = "conflict"


class ConfirmationRequired(SoulMemError):
    """Carried out only when the caller says so a second time."""

    code = "confirmation_required"


class TooLarge(SoulMemError):
    """More than is taken in one piece."""

    code = "too_large"


class Unprocessable(SoulMemError):
    """Readable, but a value is not valid."""

    code = "unprocessable"


class Busy(SoulMemError):
    """Not now; the same request may succeed later."""

    code = "busy"


class ModelUnavailable(SoulMemError):
    """An embedding model is neither on disk nor reachable."""

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
    """The data folder was taken away while it was in use."""


class Protected(StoreError):
    """What was to be changed is permanent or locked, and it was not the user's own hand."""

    code = "forbidden"


class StoreTooNew(StoreError):
    """The data folder was written by a newer SoulMem."""


class StoreBroken(StoreError):
    """The data folder cannot be read."""
