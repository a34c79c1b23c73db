"""What may be asked about souls."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from soulmem.domain.soul import KnownName, Scope, SoulClock, SoulSettings, SoulState
from soulmem.server.schemas.common import Body, Query, Share, Words

Tokens = Annotated[int, Meta(ge=1, le=1_000_000)]
Weights = Annotated[dict[Annotated[str, Meta(max_length=64)], Share], Meta(max_length=50)]
Items = Annotated[int, Meta(ge=1, le=50)]


class SoulsQuery(Query, frozen=True):
    """Which souls to list."""

    state: SoulState = SoulState.ACTIVE


class NameBody(Body, frozen=True):
    """A name the soul knows."""

    name: Annotated[str, Meta(min_length=1, max_length=2_000)]
    aliases: Annotated[list[Words], Meta(max_length=1_000)] = field(default_factory=list)


class SoulConfigBody(Body, frozen=True):
    """The card's settings, as a whole: what is left out goes back to the sidecar's default."""

    scope: Scope | UnsetType = UNSET
    clock: SoulClock | UnsetType = UNSET
    forgetting: Annotated[float, Meta(ge=0.0, le=2.0, description="0 elephant .. 2 goldfish")] | UnsetType = (
        UNSET
    )
    budget_tokens: Tokens | None = None
    max_items: Items | None = None
    remember_hidden: bool | UnsetType = UNSET
    weights: Weights = field(default_factory=dict)


class SoulBody(Body, frozen=True):
    """A soul as its card has it. Without `names` or `config` what is stored stays."""

    name: Annotated[str, Meta(min_length=1, max_length=2_000)]
    names: Annotated[list[NameBody], Meta(max_length=10_000)] | None = None
    config: SoulConfigBody | None = None


def known_names(names: list[NameBody] | None) -> tuple[KnownName, ...] | None:
    """Domain names, or None to leave what is stored."""
    if names is None:
        return None
    return tuple(KnownName(n.name, tuple(n.aliases)) for n in names)


def soul_settings(config: SoulConfigBody | None, defaults: SoulSettings) -> SoulSettings | None:
    """The sent settings over `defaults`, or None to leave what is stored."""
    if config is None:
        return None
    return SoulSettings(
        scope=defaults.scope if config.scope is UNSET else config.scope,
        clock=defaults.clock if config.clock is UNSET else config.clock,
        forgetting=defaults.forgetting if config.forgetting is UNSET else config.forgetting,
        budget_tokens=config.budget_tokens,
        max_items=config.max_items,
        remember_hidden=(
            defaults.remember_hidden if config.remember_hidden is UNSET else config.remember_hidden
        ),
        weights=dict(config.weights),
    )
