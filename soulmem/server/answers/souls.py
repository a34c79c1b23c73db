"""How souls are told."""

from __future__ import annotations

from collections.abc import Iterable

from soulmem.domain.soul import SETTINGS, KnownName, Soul
from soulmem.server.answers.common import Answer


class NameAnswer(Answer, frozen=True):
    """A name the soul knows."""

    name: str
    aliases: list[str]


class SoulConfigAnswer(Answer, frozen=True):
    """The settings in force; null means the sidecar's own default."""

    scope: str
    clock: str
    forgetting: float
    budget_tokens: int | None
    max_items: int | None
    remember_hidden: bool
    weights: dict[str, float]


class SoulAnswer(Answer, frozen=True):
    """A soul as stored."""

    id: str
    name: str
    names: list[NameAnswer]
    config: SoulConfigAnswer
    config_from: dict[str, str]  # card or default, by name of the setting


class SoulsAnswer(Answer, frozen=True):
    """All souls of the caller."""

    souls: list[SoulAnswer]
    cursor: None = None


class FingerprintAnswer(Answer, frozen=True):
    """Equal for equal surviving chats, whatever the way there."""

    hash: str


def soul_answer(soul: Soul) -> SoulAnswer:
    """One soul with its full settings."""
    settings = soul.settings
    return SoulAnswer(
        id=soul.id,
        name=soul.name,
        names=_names(soul.names),
        config=SoulConfigAnswer(
            scope=settings.scope.value,
            clock=settings.clock.value,
            forgetting=settings.forgetting,
            budget_tokens=settings.budget_tokens,
            max_items=settings.max_items,
            remember_hidden=settings.remember_hidden,
            weights=dict(settings.weights),
        ),
        config_from={
            name: "card" if name in settings.own else "default" for name in SETTINGS
        },
    )


def _names(names: Iterable[KnownName]) -> list[NameAnswer]:
    """Each name once, though both the client and an import may give it."""
    spellings: dict[str, tuple[str, dict[str, None]]] = {}
    for known in names:
        _, aliases = spellings.setdefault(known.name.casefold(), (known.name, {}))
        aliases.update(dict.fromkeys(known.aliases))
    return [
        NameAnswer(name=name, aliases=list(aliases))
        for name, aliases in spellings.values()
    ]


def souls_answer(souls: Iterable[Soul]) -> SoulsAnswer:
    """The list, in the order given."""
    return SoulsAnswer(souls=[soul_answer(soul) for soul in souls])
