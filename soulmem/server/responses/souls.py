"""Responses of souls."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from soulmem.domain.ids import SoulId
from soulmem.domain.soul import SETTINGS, KnownName, Soul
from soulmem.server.responses.common import ResponseBody


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
        config_from={
            name: "card" if name in settings.own else "default" for name in SETTINGS
        },
        open=soul.id in in_memory,
    )


def _names(names: Iterable[KnownName]) -> list[NameResponse]:
    """Each name once, even if both the client and an import provide it."""
    spellings: dict[str, tuple[str, dict[str, None]]] = {}
    for known_name in names:
        _, aliases = spellings.setdefault(
            known_name.name.casefold(), (known_name.name, {})
        )
        aliases.update(dict.fromkeys(known_name.aliases))
    return [
        NameResponse(name=name, aliases=list(aliases))
        for name, aliases in spellings.values()
    ]


def souls_response(
    souls: Iterable[Soul], in_memory: Collection[SoulId]
) -> SoulsResponse:
    """The souls, in the given order."""
    return SoulsResponse(souls=[soul_response(soul, in_memory) for soul in souls])
