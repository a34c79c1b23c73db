"""The settings that the server needs; the section [server] provides them."""

from __future__ import annotations

from typing import Protocol


class ServerSettings(Protocol):
    """Where the server listens, and whom it answers."""

    @property
    def host(self) -> str:
        """The address to listen on."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the address; otherwise every caller needs the token."""

    @property
    def origins(self) -> tuple[str, ...]:
        """The web pages that may call: exact scheme, host and port."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Further names of this machine, beside the loopback names."""

    @property
    def token(self) -> str:
        """The token that proves a caller's identity; empty: nobody can prove one."""
