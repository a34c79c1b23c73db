"""The error for a wrong setting: its source, key and value, and what to do."""

from __future__ import annotations

from soulmem.domain.errors import SoulMemError


class ConfigError(SoulMemError):
    """A setting cannot be used. `field` is its key, like `server.port`."""

    code = "config"
