"""A soul (character): the names it knows, and its settings from the card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import datetime
from enum import Enum
from typing import Any

from soulmem.domain.digests import BY_THEMSELVES, Period
from soulmem.domain.errors import Unprocessable
from soulmem.domain.forgetting_curve import Decay
from soulmem.domain.ids import SoulId
from soulmem.domain.phrases import phrase


class Scope(str, Enum):
    """Whether a new chat has access to the memories of other chats."""

    CHARACTER = "character"
    CHAT = "chat"


class SoulClock(str, Enum):
    """Unit of time for forgetting."""

    TURNS = "turns"
    STORY = "story"
    WALL = "wall"


class Push(str, Enum):
    """How often a memory comes to mind by itself."""

    OFF = "off"
    RARE = "rare"
    OFTEN = "often"


class SoulState(str, Enum):
    """Whether a soul is in use or in the bin."""

    ACTIVE = "active"
    BIN = "bin"


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name the soul knows, with its aliases."""

    name: str
    aliases: tuple[str, ...] = ()
    source: str = ""  # the import that brought it; empty: the client gave it


@dataclass(frozen=True, slots=True)
class DigestChoice:
    """Which periods get digests by themselves, and from which hour, 0..23, those of past days are made."""

    hour: int = 0
    periods: tuple[Period, ...] = BY_THEMSELVES


# Limits of `SoulSettings.keep`, in messages: a chat of an evening, and ten times what any test has
FEWEST_KEPT, MOST_KEPT = 100, 1_000_000

# Sections of the prompt, in their order, and the longest text that may stand above one.
SECTION_NAMES = (
    "permanent",
    "self",
    "summary",
    "episodes",
    "facts",
    "impulses",
    "absence",
)
LONGEST_HEADER = 500  # characters

# What a memory's weight is made of, whatever is asked: design 9.
FACTORS = ("importance", "recency", "uses", "refractory", "content", "feedback")


class Masks(str, Enum):
    """How a prompt tells what has blurred: in words, as `xxx(gist)`, or as it was told."""

    WORDS = "words"
    SEED = "seed"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class SoulSettings:
    """Per-card settings; None means the sidecar's own default."""

    scope: Scope = Scope.CHARACTER
    clock: SoulClock = SoulClock.TURNS
    forgetting: float = 1.0  # 0 elephant .. 2 goldfish
    decay: Decay = Decay.EXPONENTIAL  # the curve by which strengths and texts fade
    # How clearly a line must call for a memory: 0 the budget is filled .. 2 only what is sure.
    restraint: float = 1.0
    budget_tokens: int | None = None
    max_items: int | None = None  # 1..50
    remember_hidden: bool = True
    # All of a message's text is remembered, with reasoning, status blocks and markup
    whole_messages: bool = False
    keep: int = 50_000  # episodes of messages that stay searchable
    fades: bool = True  # texts blur, too; False: they read as they were told
    masks: Masks = Masks.WORDS  # how a prompt words what has blurred
    knows_it_forgets: bool = False  # the prompt says that it may admit what it forgot
    push: Push = Push.OFF
    rewords: bool = True  # a language model fills gaps with what a reply made of them
    digest: DigestChoice = field(default_factory=DigestChoice)
    weights: dict[str, float] = field(default_factory=dict)  # factor name to 0..1
    # Section to the user's own text above it, "" for none; the others have the built-in one.
    headers: dict[str, str] = field(default_factory=dict)
    sections_off: tuple[str, ...] = ()  # sections that stay out of the prompt
    # Names of the settings that the card sets; the others are the sidecar's default. None: what differs here.
    chosen: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.forgetting <= 2.0:
            raise Unprocessable(
                phrase(
                    "forgetting_range",
                    "forgetting {forgetting} is outside 0 (elephant) .. 2 (goldfish)",
                    forgetting=self.forgetting,
                ),
                field="config.forgetting",
            )
        if not 0.0 <= self.restraint <= 2.0:
            raise Unprocessable(
                phrase(
                    "restraint_range",
                    "restraint {restraint} is outside 0 (fills the budget) .. 2 (only what is sure)",
                    restraint=self.restraint,
                ),
                field="config.restraint",
            )
        if not FEWEST_KEPT <= self.keep <= MOST_KEPT:
            raise Unprocessable(
                phrase(
                    "keep_range",
                    "keep {keep} is outside {fewest} .. {most} messages",
                    keep=self.keep,
                    fewest=FEWEST_KEPT,
                    most=MOST_KEPT,
                ),
                field="config.keep",
            )
        for section in self.headers:
            _check_section(section, "config.headers")
        for section in self.sections_off:
            _check_section(section, "config.sections_off")
            if section == "permanent":
                raise Unprocessable(
                    phrase(
                        "permanent_stays",
                        "what is permanent is always in the prompt: leave 'permanent' out of sections_off",
                    ),
                    field="config.sections_off",
                )
        if self.chosen is None:
            object.__setattr__(self, "chosen", frozenset(self._differing()))

    def _differing(self) -> Iterator[str]:
        for setting in fields(self):
            make = setting.default_factory
            plain = setting.default if make is MISSING else make()
            if setting.name != "chosen" and getattr(self, setting.name) != plain:
                yield setting.name

    @property
    def own(self) -> frozenset[str]:
        """Names of the settings that the card sets."""
        return self.chosen or frozenset()

    def over(self, defaults: SoulSettings) -> SoulSettings:
        """These settings, with `defaults` for every setting the card does not set."""
        own = {name: getattr(self, name) for name in self.own}
        return replace(defaults, **own, chosen=self.own)


def _check_section(name: str, field_name: str) -> None:
    """Raises Unprocessable for a name that is no section of the prompt."""
    if name not in SECTION_NAMES:
        allowed = ", ".join(SECTION_NAMES)
        raise Unprocessable(
            phrase(
                "no_section",
                "there is no section '{name}': use {allowed}",
                name=name,
                allowed=allowed,
            ),
            field=field_name,
        )


SETTINGS = tuple(f.name for f in fields(SoulSettings) if f.name != "chosen")


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A client's change of a card's settings: new values by name; None resets to the default.

    Of `digest` the value is a mapping of the parts that change.
    """

    values: Mapping[str, Any] = field(default_factory=dict)

    def of(self, old: SoulSettings, defaults: SoulSettings) -> SoulSettings:
        """The settings after the change."""
        new = {name: value for name, value in self.values.items() if value is not None}
        if "weights" in new:
            new["weights"] = scaled_weights(new["weights"])
        if "digest" in new:
            new["digest"] = replace(old.digest, **new["digest"])
        chosen = (old.own | new.keys()) - {
            name for name, value in self.values.items() if value is None
        }
        return replace(old, **new, chosen=frozenset(chosen)).over(defaults)


def scaled_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights scaled to a sum of 1; empty stays empty.

    Raises Unprocessable for an unknown factor, and for weights that sum to 0.
    """
    unknown = sorted(set(weights) - set(FACTORS))
    if unknown:
        allowed = ", ".join(FACTORS)
        raise Unprocessable(
            phrase(
                "no_weight",
                "there is no weight '{name}': use {allowed}",
                name=unknown[0],
                allowed=allowed,
            ),
            field="config.weights",
        )
    total = sum(weights.values())
    if weights and total <= 0.0:
        raise Unprocessable(
            phrase(
                "weights_zero",
                "the weights add up to 0: give one of them more, or null for the default",
            ),
            field="config.weights",
        )
    return {name: weight / total for name, weight in weights.items()}


@dataclass(frozen=True, slots=True)
class Soul:
    """One character's memory."""

    id: SoulId
    name: str
    names: tuple[KnownName, ...] = ()
    settings: SoulSettings = field(default_factory=SoulSettings)
    state: SoulState = SoulState.ACTIVE
    created: datetime | None = None  # aware

    def known_names(self) -> tuple[str, ...]:
        """Every name and alias, the soul's own first, without repeats."""
        names = [self.name]
        for entry in self.names:
            names += (entry.name, *entry.aliases)
        stripped = (name.strip() for name in names)
        return tuple(dict.fromkeys(name for name in stripped if name))

    def names_given(self, from_client: Iterable[KnownName]) -> tuple[KnownName, ...]:
        """The names to keep when a client sends `from_client`: those, and the imported ones.

        A name of the client that equals an imported one, case aside, is left out: the
        client may have read it here.
        """
        imported = [entry for entry in self.names if entry.source]
        repeated = set(map(_spelling, imported))
        own = [entry for entry in from_client if _spelling(entry) not in repeated]
        return (*own, *imported)


def _spelling(entry: KnownName) -> tuple[str, frozenset[str]]:
    return entry.name.casefold(), frozenset(entry.aliases)
