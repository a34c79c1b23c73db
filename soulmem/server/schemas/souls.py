"""Requests of souls."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.digests import DIGESTED, Period
from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase
from soulmem.domain.retention import Decay
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
    SoulClock,
    SoulState,
)
from soulmem.server.schemas.common import Body, Query, Words

Tokens = Annotated[int, Meta(ge=1, le=1_000_000)]
# Ratios: they are scaled to a sum of 1.
Ratio = Annotated[float, Meta(ge=0.0, le=1_000_000.0)]
Weights = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Ratio], Meta(max_length=50)
]
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
    aliases: Annotated[list[Words], Meta(max_length=1_000)] = field(
        default_factory=list
    )


class DigestBody(Body, frozen=True):
    """Changes of which digests are made by themselves. What is left out stays."""

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
            Meta(
                ge=0.0, le=2.0, description="0 fills the budget .. 2 only what is sure"
            ),
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
        Annotated[Masks, Meta(description="how a prompt words what has blurred")]
        | UnsetType
        | None
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
