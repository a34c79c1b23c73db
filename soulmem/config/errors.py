"""How a wrong setting is told: where it stands, its key, its value, the remedy."""

from __future__ import annotations

from soulmem.domain.errors import SoulMemError


class ConfigError(SoulMemError):
    """A setting cannot be used. `field` is its key, like `server.port`."""

    code = "config"
