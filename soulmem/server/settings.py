"""What the server must be told; the section [server] of the settings has it all."""

from __future__ import annotations

from typing import Protocol


class ServerSettings(Protocol):
    """Where it listens, and to whom."""

    @property
    def host(self) -> str:
        """The address it is bound to."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach that; otherwise every caller needs the token."""

    @property
    def origins(self) -> tuple[str, ...]:
        """The web pages that may call, exactly: scheme, host, port."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names this machine is called by, beyond loopback."""

    @property
    def token(self) -> str:
        """The caller's proof; empty, nobody can prove anything."""
