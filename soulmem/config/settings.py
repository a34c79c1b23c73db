"""All settings with defaults and limits: one frozen dataclass for each section."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from soulmem.config.setting_error import ConfigError
from soulmem.domain.digests import BY_THEMSELVES, DIGESTED, Period
from soulmem.domain.forgetting_curve import Decay
from soulmem.domain.soul import (
    FEWEST_KEPT,
    MOST_KEPT,
    SECTION_NAMES,
    DigestChoice,
    Masks,
    Push,
    Scope,
    SoulClock,
    SoulSettings,
)
from soulmem.domain.web_addresses import is_web_address

_DATABASE = re.compile("[A-Za-z0-9_-]{1,64}")


def _limited(default: Any, low: float, high: float) -> Any:
    """A number from `low` to `high`, both included."""
    return field(default=default, metadata={"low": low, "high": high})


def _one_of(default: str, *choices: str) -> Any:
    """One of the given texts."""
    return field(default=default, metadata={"choices": choices})


class Section:
    """Base class of sections. A section checks its values and raises ConfigError."""

    __slots__ = ()
    name = ""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]  # every section is a dataclass
            key, value = f"{self.name}.{each.name}", getattr(self, each.name)
            low, high = each.metadata.get("low"), each.metadata.get("high")
            if low is not None and not low <= value <= high:
                raise ConfigError(f"{key} = {value!r} is outside {low}..{high}", field=key)
            choices = each.metadata.get("choices")
            if choices and value not in choices:
                raise ConfigError(
                    f"{key} = {value!r} is not known: use one of {', '.join(choices)}",
                    field=key,
                )


@dataclass(frozen=True, slots=True)
class ServerSettings(Section):
    """Where the sidecar listens, and whom it answers."""

    name = "server"

    host: str = "127.0.0.1"
    port: int = _limited(8731, 0, 65535)  # 0: any free one
    # Exact origins of the web pages that may call.
    origins: tuple[str, ...] = ("http://127.0.0.1:8000", "http://localhost:8000")
    hosts: tuple[str, ...] = ()  # further names of this machine
    token: str = ""  # empty: the token in the file `token` of the data folder

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the sidecar."""
        return is_loopback(self.host)

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for origin in self.origins:
            if "*" in origin or "://" not in origin or origin.endswith("/"):
                raise ConfigError(
                    f"server.origins contains {origin!r}: write scheme, host and port, like "
                    "http://192.168.1.5:8000, without * and without / at the end",
                    field="server.origins",
                )
        token = self.token
        if token and (
            len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token
        ):
            raise ConfigError(
                "server.token is not a valid token: use 16 or more ASCII characters without spaces",
                field="server.token",
            )


@dataclass(frozen=True, slots=True)
class StoreSettings(Section):
    """Where memories are stored."""

    name = "store"

    url: str = ""  # empty: embedded in the data folder; else a server, ws://..
    database: str = "soulmem"  # on a server: each sidecar has its own
    user: str = ""  # of the server's root users; empty: it asks for none
    password: str = field(default="", repr=False)
    data: str = ""  # data folder; empty: the usual place of this system

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        if not _DATABASE.fullmatch(self.database):
            raise ConfigError(
                f"store.database = {self.database!r} names no database: use 1 to 64 letters, digits, _ and -",
                field="store.database",
            )


@dataclass(frozen=True, slots=True)
class EmbedderSettings(Section):
    """The model that turns texts into vectors."""

    name = "embedder"

    # A hub name, a folder, `fallback` or `none`.
    model: str = "intfloat/multilingual-e5-small"
    query_prompt: str = "auto"  # `auto`: the prompt that the model was trained with
    max_tokens: int = _limited(256, 16, 8192)  # read at once
    batch: int = _limited(16, 1, 1024)  # texts at once
    threads: int = _limited(0, 0, 256)  # most passes at a time; 0: half the cores
    offline: bool = False  # true: never ask the model hub
    hub: str = ""  # address of the model hub; empty: HF_ENDPOINT, else huggingface.co

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        if self.hub and not is_web_address(self.hub):
            raise ConfigError(
                f"embedder.hub = {self.hub!r} is no address of a model hub: write it like https://example.org,"
                " without ? and #; empty is the usual one",
                field="embedder.hub",
            )


@dataclass(frozen=True, slots=True)
class LlmEndpoint:
    """One language model: address, name and key."""

    base_url: str  # empty: the provider named in `model`
    model: str
    api_key: str

    def __repr__(self) -> str:
        return f"LlmEndpoint({self.base_url!r}, {self.model!r}, {'***' if self.api_key else ''!r})"


@dataclass(frozen=True, slots=True)
class LlmSettings(Section):
    """The language model that maintains the memory: the archivist. SillyTavern chooses the one that plays."""

    name = "llm"

    base_url: str = ""
    model: str = ""  # empty: none; `client`: the client's own connection
    api_key: str = ""
    archivist_base_url: str = ""  # empty, like the next two: the same as above
    archivist_model: str = ""
    archivist_api_key: str = ""
    timeout_seconds: float = _limited(180.0, 1.0, 86_400.0)  # to wait for an answer
    context_tokens: int = _limited(4096, 1024, 10_000_000)  # prompt and answer together

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for role in ("", "archivist_"):
            key, url = f"llm.{role}base_url", getattr(self, f"{role}base_url")
            if url and not url.startswith(("http://", "https://")):
                raise ConfigError(
                    f"{key} = {url!r} is not an address: write it like http://127.0.0.1:5001/v1",
                    field=key,
                )

    def __repr__(self) -> str:
        return f"LlmSettings(archivist={self.archivist!r})"

    @property
    def archivist(self) -> LlmEndpoint | None:
        """The archivist's model, if there is one."""
        return self._of(self.archivist_base_url, self.archivist_model, self.archivist_api_key)

    def _of(self, base_url: str, model: str, api_key: str) -> LlmEndpoint | None:
        if not (model or self.model):
            return None
        # A key is only sent to the server that it belongs to.
        key = api_key or ("" if base_url and base_url != self.base_url else self.api_key)
        return LlmEndpoint(
            (base_url or self.base_url).rstrip("/"), (model or self.model).strip(), key
        )


@dataclass(frozen=True, slots=True)
class RecallSettings(Section):
    """Limits of a recall."""

    name = "recall"

    budget_tokens: int = _limited(1200, 1, 1_000_000)
    max_items: int = _limited(8, 1, 50)
    time_budget_ms: int = _limited(1500, 1, 600_000)
    # Share of the activation from which an action is triggered.
    fires_from: float = _limited(0.2, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class SpreadingSettings(Section):
    """How activation spreads from the words of a message to words that occur with them."""

    name = "spreading"

    # Energy of a word of the message.
    start: float = _limited(1.0, 0.01, 1.0)
    # Energy from which a word passes energy on; higher: fewer associations.
    threshold: float = _limited(0.05, 0.0, 1.0)
    # Share of its energy that it passes on; higher: further associations.
    transmission: float = _limited(0.5, 0.0, 1.0)
    rounds: int = _limited(10, 3, 10)  # at most
    # Energy in a round below which the spreading ends.
    delta: float = _limited(0.001, 0.000001, 1.0)
    # How much more comes to a word that was met or recalled often and lately.
    base: float = _limited(0.25, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class GraphSettings(Section):
    """How much of a large memory is kept loaded."""

    name = "graph"

    # A soul with more edges is loaded in parts.
    resident_edges: int = _limited(1_000_000, 0, 1_000_000_000)
    # Turns without use after which such a part is unloaded.
    release_after_turns: int = _limited(500, 1, 1_000_000)


@dataclass(frozen=True, slots=True)
class SoulDefaults(Section):
    """Defaults for characters whose card has no setting."""

    name = "soul"

    scope: str = _one_of("character", *(s.value for s in Scope))
    clock: str = _one_of("turns", *(c.value for c in SoulClock))
    forgetting: float = _limited(1.0, 0.0, 2.0)  # 0: never forgets, 2: forgets fastest
    decay: str = _one_of("exponential", *(d.value for d in Decay))
    # 0: fills the token limit with memories, 2: recalls only what is sure
    restraint: float = _limited(1.0, 0.0, 2.0)
    remember_hidden: bool = True
    whole_messages: bool = False  # with what is no story: reasoning, status, markup
    # Episodes of messages that stay searchable; beyond, the least weight is forgotten.
    keep: int = _limited(50_000, FEWEST_KEPT, MOST_KEPT)
    fades: bool = True  # texts blur with time
    masks: str = _one_of("words", *(m.value for m in Masks))  # how they read then
    knows_it_forgets: bool = False  # the prompt says so where a text has blurred
    # How often a memory comes to mind by itself
    push: str = _one_of("off", *(p.value for p in Push))
    rewords: bool = True  # a language model words blurred texts anew

    def as_settings(
        self,
        prompt: PromptSettings | None = None,
        digest: DigestSettings | None = None,
    ) -> SoulSettings:
        """The defaults as the domain's type, with those of the prompt and of digests."""
        prompt = prompt or PromptSettings()
        digest = digest or DigestSettings()
        return SoulSettings(
            scope=Scope(self.scope),
            clock=SoulClock(self.clock),
            forgetting=self.forgetting,
            decay=Decay(self.decay),
            restraint=self.restraint,
            remember_hidden=self.remember_hidden,
            whole_messages=self.whole_messages,
            keep=self.keep,
            fades=self.fades,
            masks=Masks(self.masks),
            knows_it_forgets=self.knows_it_forgets,
            push=Push(self.push),
            rewords=self.rewords,
            digest=DigestChoice(digest.hour, tuple(map(Period, digest.periods))),
            headers=prompt.headers,
            sections_off=prompt.sections_off,
        )


_BUILT_IN = "built-in"


@dataclass(frozen=True, slots=True)
class PromptSettings(Section):
    """The heading of each section of the prompt, and the sections that stay out of it."""

    name = "prompt"

    # Text above a section; `built-in`: in the language of the chat, empty: nothing.
    header_permanent: str = _BUILT_IN
    header_self: str = _BUILT_IN
    header_summary: str = _BUILT_IN
    header_episodes: str = _BUILT_IN
    header_facts: str = _BUILT_IN
    header_impulses: str = _BUILT_IN
    header_absence: str = _BUILT_IN
    sections_off: tuple[str, ...] = ()  # names of sections: all but `permanent`

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        for name in self.sections_off:
            if name not in SECTION_NAMES[1:]:
                allowed = ", ".join(SECTION_NAMES[1:])
                raise ConfigError(
                    f"prompt.sections_off contains {name!r}: use one of {allowed}",
                    field="prompt.sections_off",
                )

    @property
    def headers(self) -> dict[str, str]:
        """The user's own headers by section."""
        texts = {name: getattr(self, f"header_{name}") for name in SECTION_NAMES}
        return {name: text for name, text in texts.items() if text != _BUILT_IN}


@dataclass(frozen=True, slots=True)
class IdleSettings(Section):
    """When idle work begins, and when the memory of a character is closed."""

    name = "idle"

    after_seconds: float = _limited(60.0, 1.0, 86_400.0)  # without a request
    # Until the last message of a chat counts as final.
    settle_seconds: float = _limited(600.0, 1.0, 604_800.0)
    # Without use, until a character's memory leaves RAM; 0: never.
    close_after_minutes: float = _limited(30.0, 0.0, 10_080.0)


@dataclass(frozen=True, slots=True)
class DigestSettings(Section):
    """The digests that are made in quiet times."""

    name = "digest"

    # Of the day, from which digests of past days are made.
    hour: int = _limited(0, 0, 23)
    # Names of the periods that get digests by themselves.
    periods: tuple[str, ...] = tuple(period.value for period in BY_THEMSELVES)
    # Of a stream that one highlight tells.
    highlight_minutes: int = _limited(15, 1, 720)

    def __post_init__(self) -> None:
        Section.__post_init__(self)
        allowed = [period.value for period in DIGESTED]
        for name in self.periods:
            if name not in allowed:
                raise ConfigError(
                    f"digest.periods contains {name!r}: use one of {', '.join(allowed)}",
                    field="digest.periods",
                )


@dataclass(frozen=True, slots=True)
class ConsolidationSettings(Section):
    """How a language model turns chats into lasting memory."""

    name = "consolidation"

    window_turns: int = _limited(3, 1, 50)  # exchanges in short-term memory
    messages: int = _limited(20, 4, 200)  # that have left it, for each two calls
    # In idle time; jobs that the user starts are not limited.
    calls_per_hour: int = _limited(120, 0, 100_000)
    # The same for calls over the client's connection.
    client_calls_per_hour: int = _limited(6, 0, 100_000)
    tokens_per_hour: int = _limited(400_000, 0, 1_000_000_000)
    memories_per_hour: int = _limited(3000, 0, 1_000_000)
    minutes_per_hour: float = _limited(30.0, 0.0, 60.0)


@dataclass(frozen=True, slots=True)
class BinSettings(Section):
    """The bin for deleted memories."""

    name = "bin"

    days: float = _limited(7.0, 0.0, 3650.0)  # until its content is erased
    # True: permanent memories by a language model wait in the bin for the user.
    review: bool = False


@dataclass(frozen=True, slots=True)
class BackupSettings(Section):
    """Backups of the whole store, made once a day in idle time."""

    name = "backup"

    daily: int = _limited(7, 0, 1000)  # days whose newest backup is kept
    # Weeks whose newest backup is kept. With 0 and 0, backups are only made before upgrades.
    weekly: int = _limited(4, 0, 1000)
    folder: str = ""  # empty: in the data folder


@dataclass(frozen=True, slots=True)
class LogSettings(Section):
    """The log. It contains chat texts only at level `debug`."""

    name = "log"

    level: str = _one_of("info", "debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. `data` is the absolute path of the data folder."""

    data: Path
    server: ServerSettings = field(default_factory=ServerSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    llm: LlmSettings = field(default_factory=LlmSettings)
    recall: RecallSettings = field(default_factory=RecallSettings)
    spreading: SpreadingSettings = field(default_factory=SpreadingSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    soul: SoulDefaults = field(default_factory=SoulDefaults)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    idle: IdleSettings = field(default_factory=IdleSettings)
    digest: DigestSettings = field(default_factory=DigestSettings)
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
        SpreadingSettings,
        GraphSettings,
        SoulDefaults,
        PromptSettings,
        IdleSettings,
        DigestSettings,
        ConsolidationSettings,
        BinSettings,
        BackupSettings,
        LogSettings,
    )
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
