"""Routes of souls: create or change, read, list, delete, fingerprint."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.digests import DIGESTED, Period
from soulmem.domain.errors import Unprocessable
from soulmem.domain.forgetting_curve import Decay
from soulmem.domain.ids import SoulId
from soulmem.domain.phrases import phrase
from soulmem.domain.soul import (
    FEWEST_KEPT,
    LONGEST_HEADER,
    MOST_KEPT,
    SECTION_NAMES,
    SETTINGS,
    KnownName,
    Masks,
    Push,
    Scope,
    SettingsChange,
    Soul,
    SoulClock,
    SoulState,
)
from soulmem.server.common_types import (
    Body,
    Confirm,
    Done,
    NoBody,
    NoQuery,
    Query,
    ResponseBody,
    Words,
)
from soulmem.server.replies import Reply
from soulmem.server.routes import Call, route

Tokens = Annotated[int, Meta(ge=1, le=1_000_000)]
# Ratios: they are scaled to a sum of 1.
Ratio = Annotated[float, Meta(ge=0.0, le=1_000_000.0)]
Weights = Annotated[dict[Annotated[str, Meta(max_length=64)], Ratio], Meta(max_length=50)]
Items = Annotated[int, Meta(ge=1, le=50)]
Kept = Annotated[
    int,
    Meta(
        ge=FEWEST_KEPT,
        le=MOST_KEPT,
        description="messages that stay searchable; beyond, the least weight leaves",
    ),
]


Headers = Annotated[
    dict[str, Annotated[str, Meta(max_length=LONGEST_HEADER)]],
    Meta(
        max_length=len(SECTION_NAMES),
        description="own text above a section of the prompt, empty for none",
    ),
]
SectionNames = Annotated[
    list[str],
    Meta(
        max_length=len(SECTION_NAMES),
        description="sections that stay out of the prompt",
    ),
]


class SoulsQuery(Query, frozen=True):
    """Selects the souls to list."""

    state: SoulState = SoulState.ACTIVE


class NameBody(Body, frozen=True):
    """A name that the soul knows, with its aliases."""

    name: Annotated[str, Meta(min_length=1, max_length=2_000)]
    aliases: Annotated[list[Words], Meta(max_length=1_000)] = field(default_factory=list)


class DigestBody(Body, frozen=True):
    """Changes the kinds of digests that are made without being asked for; a missing field stays as it is."""

    hour: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=23,
                description="hour of the day from which digests of past days are made",
            ),
        ]
        | UnsetType
    ) = UNSET
    periods: (
        Annotated[
            list[Period],
            Meta(
                max_length=len(Period),
                description="periods that get digests: all but highlight",
            ),
        ]
        | UnsetType
    ) = UNSET


class SoulConfigBody(Body, frozen=True):
    """Changes of the card's settings. What is left out stays; null restores the sidecar's default."""

    scope: Scope | UnsetType | None = UNSET
    clock: SoulClock | UnsetType | None = UNSET
    forgetting: (
        Annotated[float, Meta(ge=0.0, le=2.0, description="0 elephant .. 2 goldfish")]
        | UnsetType
        | None
    ) = UNSET
    decay: Decay | UnsetType | None = UNSET
    restraint: (
        Annotated[
            float,
            Meta(ge=0.0, le=2.0, description="0 fills the budget .. 2 only what is sure"),
        ]
        | UnsetType
        | None
    ) = UNSET
    budget_tokens: Tokens | UnsetType | None = UNSET
    max_items: Items | UnsetType | None = UNSET
    remember_hidden: bool | UnsetType | None = UNSET
    whole_messages: bool | UnsetType | None = UNSET
    weights: Weights | UnsetType | None = UNSET
    keep: Kept | UnsetType | None = UNSET
    fades: bool | UnsetType | None = UNSET
    masks: (
        Annotated[Masks, Meta(description="how a prompt words what has blurred")] | UnsetType | None
    ) = UNSET
    knows_it_forgets: bool | UnsetType | None = UNSET
    push: (
        Annotated[Push, Meta(description="how often a memory comes to mind by itself")]
        | UnsetType
        | None
    ) = UNSET
    rewords: bool | UnsetType | None = UNSET
    digest: DigestBody | UnsetType | None = UNSET
    headers: Headers | UnsetType | None = UNSET
    sections_off: SectionNames | UnsetType | None = UNSET


class SoulBody(Body, frozen=True):
    """A soul as its card describes it. If `names` or `config` is left out, the stored value stays."""

    name: Annotated[str, Meta(min_length=1, max_length=2_000)]
    names: Annotated[list[NameBody], Meta(max_length=10_000)] | None = None
    config: SoulConfigBody | None = None


def known_names(names: list[NameBody] | None) -> tuple[KnownName, ...] | None:
    """The names as domain values; None keeps the stored ones."""
    if names is None:
        return None
    return tuple(KnownName(n.name, tuple(n.aliases)) for n in names)


def settings_change(config: SoulConfigBody | None) -> SettingsChange | None:
    """The settings that were sent; None keeps the stored ones."""
    if config is None:
        return None
    sent = {name: getattr(config, name) for name in SETTINGS}
    values = {name: value for name, value in sent.items() if value is not UNSET}
    if values.get("sections_off") is not None:
        values["sections_off"] = tuple(dict.fromkeys(values["sections_off"]))
    if isinstance(config.digest, DigestBody):
        values["digest"] = _digest_parts(config.digest)
    return SettingsChange(values)


def _digest_parts(digest: DigestBody) -> dict[str, Any]:
    """The parts that were sent. Raises Unprocessable for a period that gets no digest by itself."""
    parts: dict[str, Any] = {}
    if not isinstance(digest.hour, UnsetType):
        parts["hour"] = digest.hour
    if not isinstance(digest.periods, UnsetType):
        for period in digest.periods:
            if period not in DIGESTED:
                allowed = ", ".join(each.value for each in DIGESTED)
                raise Unprocessable(
                    phrase(
                        "no_digest_period",
                        "'{name}' gets no digest by itself: use {allowed}",
                        name=period.value,
                        allowed=allowed,
                    ),
                    field="config.digest.periods",
                )
        parts["periods"] = tuple(p for p in DIGESTED if p in digest.periods)
    return parts


class NameResponse(ResponseBody, frozen=True):
    """A name that the soul knows, with its aliases."""

    name: str
    aliases: list[str]


class DigestResponse(ResponseBody, frozen=True):
    """Periods that get digests by themselves; from which hour of the day those of past days are made."""

    hour: int
    periods: list[str]


class SoulConfigResponse(ResponseBody, frozen=True):
    """The settings in force; null means the sidecar's own default."""

    scope: str
    clock: str
    forgetting: float
    decay: str
    restraint: float
    budget_tokens: int | None
    max_items: int | None
    remember_hidden: bool
    whole_messages: bool
    weights: dict[str, float]
    keep: int
    fades: bool
    masks: str
    knows_it_forgets: bool
    push: str
    rewords: bool
    digest: DigestResponse
    headers: dict[str, str]  # the user's own text above a section of the prompt
    sections_off: list[str]  # sections that stay out of the prompt


class SoulResponse(ResponseBody, frozen=True):
    """A soul as stored."""

    id: str
    name: str
    names: list[NameResponse]
    config: SoulConfigResponse
    config_from: dict[str, str]  # card or default, by name of the setting
    open: bool  # in memory; a request for a soul that is not opens it


class SoulsResponse(ResponseBody, frozen=True):
    """All souls of the caller."""

    souls: list[SoulResponse]
    cursor: None = None


class FingerprintResponse(ResponseBody, frozen=True):
    """A hash of the derived memory: equal for equal chats, whatever was edited before."""

    hash: str


def soul_response(soul: Soul, in_memory: Collection[SoulId]) -> SoulResponse:
    """One soul with its full settings; `in_memory` are the souls that are open."""
    settings = soul.settings
    return SoulResponse(
        id=soul.id,
        name=soul.name,
        names=_names(soul.names),
        config=SoulConfigResponse(
            scope=settings.scope.value,
            clock=settings.clock.value,
            forgetting=settings.forgetting,
            decay=settings.decay.value,
            restraint=settings.restraint,
            budget_tokens=settings.budget_tokens,
            max_items=settings.max_items,
            remember_hidden=settings.remember_hidden,
            whole_messages=settings.whole_messages,
            weights=dict(settings.weights),
            keep=settings.keep,
            fades=settings.fades,
            masks=settings.masks.value,
            knows_it_forgets=settings.knows_it_forgets,
            push=settings.push.value,
            rewords=settings.rewords,
            digest=DigestResponse(
                hour=settings.digest.hour,
                periods=[period.value for period in settings.digest.periods],
            ),
            headers=dict(settings.headers),
            sections_off=list(settings.sections_off),
        ),
        config_from={name: "card" if name in settings.own else "default" for name in SETTINGS},
        open=soul.id in in_memory,
    )


def _names(names: Iterable[KnownName]) -> list[NameResponse]:
    """Each name once, even if both the client and an import provide it."""
    spellings: dict[str, tuple[str, dict[str, None]]] = {}
    for known_name in names:
        _, aliases = spellings.setdefault(known_name.name.casefold(), (known_name.name, {}))
        aliases.update(dict.fromkeys(known_name.aliases))
    return [NameResponse(name=name, aliases=list(aliases)) for name, aliases in spellings.values()]


def souls_response(souls: Iterable[Soul], in_memory: Collection[SoulId]) -> SoulsResponse:
    """The souls, in the given order."""
    return SoulsResponse(souls=[soul_response(soul, in_memory) for soul in souls])


@route(
    "PUT",
    "/v1/souls/{soul}",
    query=NoQuery,
    body=SoulBody,
    response=SoulResponse,
    statuses=(200, 201),
)
async def put_soul(call: Call[NoQuery, SoulBody]) -> Reply[SoulResponse]:
    """Create or change a soul. Settings that are not sent stay."""
    body = call.body
    settings = settings_change(body.config)
    soul, created = await call.engine.souls.put(
        call.owner,
        SoulId(call.ids["soul"]),
        body.name,
        known_names(body.names),
        settings,
    )
    opened = await call.engine.souls.in_memory(call.owner)
    return Reply(
        lambda: soul_response(soul, opened),
        rows=len(soul.names),
        status=201 if created else 200,
    )


@route("GET", "/v1/souls/{soul}", query=NoQuery, body=None, response=SoulResponse)
async def get_soul(call: Call[NoQuery, NoBody]) -> Reply[SoulResponse]:
    """A soul with its full settings."""
    soul = await call.engine.souls.get(call.owner, SoulId(call.ids["soul"]))
    opened = await call.engine.souls.in_memory(call.owner)
    return Reply(lambda: soul_response(soul, opened), rows=len(soul.names))


@route("GET", "/v1/souls", query=SoulsQuery, body=None, response=SoulsResponse)
async def list_souls(call: Call[SoulsQuery, NoBody]) -> Reply[SoulsResponse]:
    """The caller's souls. PUT restores one from the bin."""
    souls = await call.engine.souls.list(call.owner, call.query.state)
    opened = await call.engine.souls.in_memory(call.owner)
    return Reply(
        lambda: souls_response(souls, opened),
        rows=sum(1 + len(soul.names) for soul in souls),
    )


@route("DELETE", "/v1/souls/{soul}", query=Confirm, body=None, response=Done)
async def delete_soul(call: Call[Confirm, NoBody]) -> Reply[Done]:
    """Move a soul to the bin; `confirm` is its name."""
    await call.engine.souls.delete(call.owner, SoulId(call.ids["soul"]), call.query.confirm)
    return Reply(Done)


@route(
    "GET",
    "/v1/souls/{soul}/fingerprint",
    query=NoQuery,
    body=None,
    response=FingerprintResponse,
)
async def read_fingerprint(call: Call[NoQuery, NoBody]) -> Reply[FingerprintResponse]:
    """A hash of the derived memory. Equal chats give equal hashes, whatever was edited before."""
    fingerprint = await call.engine.souls.fingerprint(call.owner, SoulId(call.ids["soul"]))
    return Reply(lambda: FingerprintResponse(hash=fingerprint))


ROUTES = (put_soul, get_soul, list_souls, delete_soul, read_fingerprint)
