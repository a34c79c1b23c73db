"""Which habits does the moment set off? A push of its own, from situations through triggers to actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ActionSelectionParams:
    """When a situation counts as present, and what that is worth.

    Measured with the packaged encoder on 26 situations each in en and zh, 20 at a time: all near cues fire;
    F1 of paraphrases that share no word is .65 (en) and .33 (zh); short lines about something else set off
    .05 actions, messages of real chats, with a handful of sentences each, .02 to .15. At `present` 3.2 F1 is
    .78 and .47, and there are twice as many false alarms. Of habits taught by three scenes each, 8 or 16 at a
    time out of 16 in en and in zh, 93 in 100 near cues fire the right one, 30 in 100 paraphrases, and 2 in
    100 other lines anything; with `taught` 1.2, 93, 35 and 4.
    """

    threshold: float = (
        0.2  # 0..1, share of the attention from which an action fires; design 3
    )
    sharpness: float = 2.0  # logits per deviation of fit; 1.5 to 3 do alike
    present: float = 3.9  # fit at which a lone situation gets half of the attention
    taught_margin: float = 1.5  # by which one must fit better that scenes tell: a mean is nearer to everything
    crowd: int = 20  # above so many situations each must fit better, or their number would fire something
    instance: float = (
        0.5  # what a class of situations passes on to one of its instances
    )


@dataclass(frozen=True, slots=True)
class TriggerPath:
    """One way from a situation to a trigger, `instance` is passed through on the way up or down."""

    seed: int
    trigger: int
    strength: float  # 0..1, of the edge into the trigger
    passes: float = 1.0  # 0..1, what is left of the attention after the step over `via`
    via: int | None = None


@dataclass(frozen=True, slots=True)
class Tendency:
    """What a trigger may set off."""

    action: int
    probability: float  # >= 0; a trigger's need not sum to 1
    strength: float  # 0..1


@dataclass(frozen=True, slots=True)
class SelectedAction:
    """An action that fires, and how the moment led to it."""

    action: int
    share: float  # 0..1
    trigger: int
    path: TriggerPath | None  # None where an intent named the trigger itself


def situation_attention(
    fit: NDArray[np.floating[Any]], params: ActionSelectionParams | None = None
) -> Floats:
    """How much of the attention each situation gets, shape (situations,), >= 0, sum below 1.

        share(s) = e^(c * f_s) / (e^(c * level) + sum over all situations e^(c * f)),  c = sharpness

    What is left is for "nothing of the sort is happening". `fit` is shape (lines, situations), as
    `Calibration.fit` gives it; a situation is as present as its best line says, and more lines must say it
    louder. A fit of NaN is none.
    """
    p = params or ActionSelectionParams()
    if not fit.size:
        return np.zeros(fit.shape[1], np.float64)
    lines, situations = fit.shape
    best = np.nan_to_num(fit.astype(np.float64), nan=-np.inf).max(axis=0)
    level = p.present + (log(lines) + log(max(1.0, situations / p.crowd))) / p.sharpness
    logits = np.append(best, level) * p.sharpness
    weights = np.exp(logits - logits.max())
    return np.asarray(weights[:-1] / weights.sum(), np.float64)


def select_actions(
    present: Mapping[int, float],
    meant: Mapping[int, float],
    ways: Iterable[TriggerPath],
    tendencies: Mapping[int, Sequence[Tendency]],
    draws: Mapping[int, float],
    params: ActionSelectionParams | None = None,
) -> list[SelectedAction]:
    """The actions that fire, the greatest share first.

    present     attention by situation
    meant       attention by trigger, of an intent that names it
    draws       a number in 0..1 for each trigger, `draw_number`

    The attention of all situations of a trigger, each over its best way, arrives there, weakened by the
    geometric mean of the strengths of the two edges `triggers` and `fires`; one action is drawn by
    probability and takes it. What an action gets from several triggers adds up.
    """
    p = params or ActionSelectionParams()
    arriving = _arriving(present, ways, tendencies)
    shares: dict[int, float] = {}
    causes: dict[int, tuple[float, int, TriggerPath | None]] = {}
    for trigger, choice in tendencies.items():
        scene = arriving.get(trigger, {})
        sources: list[tuple[float, TriggerPath | None]] = list(scene.values())
        scene_mass = sum(mass for mass, _ in sources)
        intent_mass = meant.get(trigger, 0.0) * _strength(1.0, choice)
        mass = max(scene_mass, intent_mass)
        if not choice or mass <= 0.0:
            continue
        action = draw_action(
            [(t.action, t.probability) for t in choice], draws[trigger]
        )
        if action is None:
            continue
        shares[action] = shares.get(action, 0.0) + mass
        best = (
            max(sources, key=lambda pair: pair[0])[1]
            if scene_mass >= intent_mass
            else None
        )
        if mass > causes.get(action, (0.0, 0, None))[0]:
            causes[action] = mass, trigger, best
    fired = [
        SelectedAction(action, min(1.0, share), causes[action][1], causes[action][2])
        for action, share in shares.items()
        if share >= p.threshold
    ]
    return sorted(fired, key=lambda impulse: (-impulse.share, impulse.action))


def _arriving(
    present: Mapping[int, float],
    ways: Iterable[TriggerPath],
    tendencies: Mapping[int, Sequence[Tendency]],
) -> dict[int, dict[int, tuple[float, TriggerPath]]]:
    """By trigger and situation: the attention that arrives, and the best path that it takes."""
    arriving: dict[int, dict[int, tuple[float, TriggerPath]]] = {}
    for way in ways:
        strength = _strength(way.strength, tendencies.get(way.trigger, ()))
        mass = present.get(way.seed, 0.0) * way.passes * strength
        by_situation = arriving.setdefault(way.trigger, {})
        if mass > by_situation.get(way.seed, (0.0, way))[0]:
            by_situation[way.seed] = mass, way
    return arriving


def draw_action(actions: Sequence[tuple[int, float]], number: float) -> int | None:
    """The action at `number` (0..1) of the row of all, each as wide as its probability; None if all are 0."""
    whole = sum(probability for _, probability in actions)
    if whole <= 0.0:
        return None
    reached = 0.0
    for action, probability in actions:
        reached += probability / whole
        if number < reached:
            return action
    return next(
        action for action, probability in reversed(actions) if probability > 0.0
    )


def draw_number(*names: str) -> float:
    """A number in 0..1 (exclusive) that depends on these names alone, on any machine at any time."""
    digest = blake2b("\x1f".join(names).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2.0**53


def _strength(into: float, choice: Sequence[Tendency]) -> float:
    """Of the way through a trigger: its edges' geometric mean, the actions' by their probability."""
    whole = sum(t.probability for t in choice)
    if whole <= 0.0:
        return 0.0
    return sum(t.probability * sqrt(into * t.strength) for t in choice) / whole
