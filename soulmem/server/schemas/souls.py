"""Requests of souls."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.soul import (
    SETTINGS,
    KnownName,
    Scope,
    SettingsChange,
    SoulClock,
    SoulState,
)
from soulmem.server.schemas.common import Body, Query, Share, Words

Tokens = Annotated[int, Meta(ge=1, le=1_000_000)]
Weights = Annotated[
    dict[Annotated[str, Meta(max_length=64)], Share], Meta(max_length=50)
]
Items = Annotated[int, Meta(ge=1, le=50)]


class SoulsQuery(Query, frozen=True):
    """Selects the souls to list."""

    state: SoulState = SoulState.ACTIVE


class NameBody(Body, frozen=True):
    """A name that the soul knows, with its aliases."""

    name: Annotated[str, Meta(min_length=1, max_length=2_000)]
    aliases: Annotated[list[Words], Meta(max_length=1_000)] = field(
        default_factory=list
    )


class SoulConfigBody(Body, frozen=True):
    """Changes of the card's settings. What is left out stays; null restores the sidecar's default."""

    scope: Scope | UnsetType | None = UNSET
    clock: SoulClock | UnsetType | None = UNSET
    forgetting: (
        Annotated[float, Meta(ge=0.0, le=2.0, description="0 elephant .. 2 goldfish")]
        | UnsetType
        | None
    ) = UNSET
    budget_tokens: Tokens | UnsetType | None = UNSET
    max_items: Items | UnsetType | None = UNSET
    remember_hidden: bool | UnsetType | None = UNSET
    weights: Weights | UnsetType | None = UNSET


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
    return SettingsChange(
        {name: value for name, value in sent.items() if value is not UNSET}
    )
