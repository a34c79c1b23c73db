"""Which settings there are, with defaults and limits: one frozen dataclass per section."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from soulmem.config.errors import ConfigError
from soulmem.domain.soul import Scope, SoulClock, SoulSettings


def _limited(default: Any, low: float, high: float) -> Any:
    """A number within `low`..`high`, both included."""
    return field(default=default, metadata={"low": low, "high": high})


def _one_of(default: str, *choices: str) -> Any:
    """One of a few words."""
    return field(default=default, metadata={"choices": choices})


class Section:
    """A section checks its own values. Raises ConfigError."""

    __slots__ = ()
    name = ""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]  # every section is a dataclass
            key, value = f"{self.name}.{each.name}", getattr(self, each.name)
            low, high = each.metadata.get("low"), each.metadata.get("high")
            if low is not None and not low <= value <= high:
                raise ConfigError(
                    f"{key} = {value!r} is outside {low}..{high}", field=key
                )
            choices = each.metadata.get("choices")
            if choices and value not in choices:
                raise ConfigError(
                    f"{key} = {value!r} is not known: use one of {', '.join(choices)}",
                    field=key,
                )


@dataclass(frozen=True, slots=True)
class ServerSettings(Section):
    """Where the sidecar listens, and to whom."""

    name = "server"

    host: str = "127.0.0.1"
    port: int = _limited(8731, 0, 65535)  # 0: any free one
    origins: tuple[str, ...] = (
        "http://127.0.0.1:8000",
        "http://localhost:8000",
    )  # of web pages, exactly
    hosts: tuple[str, ...] = ()  # names this machine is called by, beyond loopback
    token: str = ""  # empty: the one in the file `token` of the data folder

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the sidecar."""
        return is_loopback(self.host)

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for origin in self.origins:
            if "*" in origin or "://" not in origin or origin.endswith("/"):
                raise ConfigError(
                    f"server.origins has {origin!r}: write scheme, host and port, like "
                    "http://192.168.1.5:8000; no * and no / at the end",
                    field="server.origins",
                )
        token = self.token
        if token and (
            len(token) < 16
            or not token.isascii()
            or not token.isprintable()
            or " " in token
        ):
            raise ConfigError(
                "server.token is no good token: use 16 or more ASCII characters without spaces",
                field="server.token",
            )


@dataclass(frozen=True, slots=True)
class StoreSettings(Section):
    """Where memories are kept."""

    name = "store"

    url: str = ""  # empty: embedded, in the data folder; or ws://..
    data: str = ""  # empty: the usual place of this system


@dataclass(frozen=True, slots=True)
class EmbedderSettings(Section):
    """What turns texts into vectors."""

    name = "embedder"

    model: str = (
        "intfloat/multilingual-e5-small"  # a hub name, a folder, `fallback` or `none`
    )
    query_prompt: str = "auto"  # `auto`: the one the model was trained with
    max_tokens: int = _limited(256, 16, 8192)  # per text
    batch: int = _limited(16, 1, 1024)  # texts at once
    threads: int = _limited(1, 0, 256)  # 0: as many as the library likes
    offline: bool = False  # never ask the model hub


@dataclass(frozen=True, slots=True)
class LlmEndpoint:
    """One language model: where it is, its name, and the key it asks for."""

    base_url: str  # empty: where the provider named in `model` is
    model: str
    api_key: str

    def __repr__(self) -> str:
        return f"LlmEndpoint({self.base_url!r}, {self.model!r}, {'***' if self.api_key else ''!r})"


@dataclass(frozen=True, slots=True)
class LlmSettings(Section):
    """The language model that keeps the memory: the archivist. Who speaks is SillyTavern's affair."""

    name = "llm"

    base_url: str = ""
    model: str = ""  # empty: none; `client`: the connection of whoever uses the sidecar
    api_key: str = ""
    archivist_base_url: str = ""  # empty, like the two others: as above
    archivist_model: str = ""
    archivist_api_key: str = ""
    timeout_seconds: float = _limited(
        180.0, 1.0, 86_400.0
    )  # until an answer is given up
    context_tokens: int = _limited(4096, 1024, 10_000_000)  # prompt and answer together

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for role in ("", "archivist_"):
            key, url = f"llm.{role}base_url", getattr(self, f"{role}base_url")
            if url and not url.startswith(("http://", "https://")):
                raise ConfigError(
                    f"{key} = {url!r} is no address: write it like http://127.0.0.1:5001/v1",
                    field=key,
                )

    def __repr__(self) -> str:
        return f"LlmSettings(archivist={self.archivist!r})"

    @property
    def archivist(self) -> LlmEndpoint | None:
        """The archivist's model, if there is one."""
        return self._of(
            self.archivist_base_url, self.archivist_model, self.archivist_api_key
        )

    def _of(self, base_url: str, model: str, api_key: str) -> LlmEndpoint | None:
        if not (model or self.model):
            return None
        # A key is for the server it was given for.
        key = api_key or (
            "" if base_url and base_url != self.base_url else self.api_key
        )
        return LlmEndpoint(
            (base_url or self.base_url).rstrip("/"), (model or self.model).strip(), key
        )


@dataclass(frozen=True, slots=True)
class RecallSettings(Section):
    """How much a recall may bring and take."""

    name = "recall"

    budget_tokens: int = _limited(1200, 1, 1_000_000)
    max_items: int = _limited(8, 1, 50)
    time_budget_ms: int = _limited(1500, 1, 600_000)
    fires_from: float = _limited(
        0.2, 0.0, 1.0
    )  # share of the attention from which an action fires


@dataclass(frozen=True, slots=True)
class GraphSettings(Section):
    """How much of a large memory is kept at hand."""

    name = "graph"

    resident_edges: int = _limited(
        1_000_000, 0, 1_000_000_000
    )  # of a soul; one with more is loaded in parts
    release_after_turns: int = _limited(
        500, 1, 1_000_000
    )  # that such a part stays when nobody needs it


@dataclass(frozen=True, slots=True)
class SoulDefaults(Section):
    """What a character's card does not say."""

    name = "soul"

    scope: str = _one_of("character", *(s.value for s in Scope))
    clock: str = _one_of("turns", *(c.value for c in SoulClock))
    forgetting: float = _limited(1.0, 0.0, 2.0)  # 0 elephant .. 2 goldfish
    remember_hidden: bool = True

    def as_settings(self) -> SoulSettings:
        """The same as the domain's value."""
        return SoulSettings(
            scope=Scope(self.scope),
            clock=SoulClock(self.clock),
            forgetting=self.forgetting,
            remember_hidden=self.remember_hidden,
        )


@dataclass(frozen=True, slots=True)
class IdleSettings(Section):
    """When quiet work begins."""

    name = "idle"

    after_seconds: float = _limited(60.0, 1.0, 86_400.0)  # without a request
    settle_seconds: float = _limited(
        600.0, 1.0, 604_800.0
    )  # until a last message counts as said


@dataclass(frozen=True, slots=True)
class ConsolidationSettings(Section):
    """How chat becomes lasting memory where there is a language model."""

    name = "consolidation"

    window_turns: int = _limited(3, 1, 50)  # exchanges held in short-term memory
    messages: int = _limited(20, 4, 200)  # that have left it, at least, for two calls
    calls_per_hour: int = _limited(
        120, 0, 100_000
    )  # of quiet moments; a job that is asked for is done
    client_calls_per_hour: int = _limited(
        6, 0, 100_000
    )  # likewise, over the connection of the client
    tokens_per_hour: int = _limited(400_000, 0, 1_000_000_000)
    memories_per_hour: int = _limited(3000, 0, 1_000_000)
    minutes_per_hour: float = _limited(30.0, 0.0, 60.0)


@dataclass(frozen=True, slots=True)
class BinSettings(Section):
    """What was deleted and can still come back."""

    name = "bin"

    days: float = _limited(7.0, 0.0, 3650.0)  # until it goes for good
    review: bool = (
        False  # what a language model wants to keep for good waits there for the user
    )


@dataclass(frozen=True, slots=True)
class BackupSettings(Section):
    """Copies of the whole store, made once a day in a quiet moment."""

    name = "backup"

    daily: int = _limited(7, 0, 1000)  # days of which the newest is kept
    weekly: int = _limited(
        4, 0, 1000
    )  # weeks likewise; with 0 and 0 only upgrades are preceded by one
    folder: str = ""  # empty: in the data folder


@dataclass(frozen=True, slots=True)
class LogSettings(Section):
    """What is told in the log; texts of chats only at `debug`."""

    name = "log"

    level: str = _one_of("info", "debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. `data` is the data folder, resolved."""

    data: Path
    server: ServerSettings = field(default_factory=ServerSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    soul: SoulDefaults = field(default_factory=SoulDefaults)
    idle: IdleSettings = field(default_factory=IdleSettings)
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    bin: BinSettings = field(default_factory=BinSettings)
    backup: BackupSettings = field(default_factory=BackupSettings)
    log: LogSettings = field(default_factory=LogSettings)


SECTIONS: dict[str, type[Any]] = {
    section.name: section
    for section in (
        ServerSettings,
        StoreSettings,
        EmbedderSettings,
        LlmSettings,
        RecallSettings,
        GraphSettings,
        SoulDefaults,
        IdleSettings,
        ConsolidationSettings,
        BinSettings,
        BackupSettings,
        LogSettings,
    )
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
