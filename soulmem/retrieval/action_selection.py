"""Action selection: from the situations present in a scene over triggers to the habits that apply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulmem.kernels.arrays import Float64s


@dataclass(frozen=True, slots=True)
class ActionSelectionParams:
    """When a situation counts as present, and when an action is selected.

    Measured with the packaged encoder on 26 situations each in en and zh, 20 at a time: all near lines select;
    F1 of paraphrases that share no word is .65 (en) and .33 (zh); short lines about something else select
    .05 actions, messages of real chats, with a handful of sentences each, .02 to .15. At `present` 3.2 F1 is
    .78 and .47, and there are twice as many false alarms. Of habits learned from three scenes each, 8 or 16 at a
    time out of 16 in en and in zh, 93 in 100 near lines select the right one, 30 in 100 paraphrases, and 2 in
    100 other lines anything; with `taught_margin` 1.2, 93, 35 and 4.
    """

    # 0..1, share of the attention from which an action is selected; design 3
    threshold: float = 0.2
    sharpness: float = 2.0  # logits per deviation of fit; 1.5 to 3 give equal results
    present: float = 3.9  # fit at which a lone situation gets half of the attention
    # extra fit for situations learned from scenes: a mean vector is near to all
    taught_margin: float = 1.5
    # situations; above this each must fit better, to keep false alarms constant
    crowd: int = 20
    # 0..1, what a kind of situation passes on to one of its instances
    instance: float = 0.5


@dataclass(frozen=True, slots=True)
class TriggerPath:
    """A path from a situation (`seed`) to a trigger, directly or over the kind or instance `via`."""

    seed: int
    trigger: int
    strength: float  # 0..1, of the edge into the trigger
    # 0..1, share of the attention that the step over `via` passes on
    passes: float = 1.0
    via: int | None = None


@dataclass(frozen=True, slots=True)
class Tendency:
    """An action that a trigger may select."""

    action: int
    probability: float  # >= 0; a trigger's need not sum to 1
    strength: float  # 0..1


@dataclass(frozen=True, slots=True)
class SelectedAction:
    """An action that is selected, and the path of the strongest attention to it."""

    action: int
    share: float  # 0..1
    trigger: int
    path: TriggerPath | None  # None where an intent names the trigger


def situation_attention(
    fit: NDArray[np.floating[Any]], params: ActionSelectionParams | None = None
) -> Float64s:
    """The attention of each situation, float64[situations], >= 0, sum below 1.

        share(s) = e^(c * f_s) / (e^(c * level) + sum over all situations e^(c * f)),  c = sharpness

    The rest of 1 means that none of them is present. `fit` is shape (lines, situations), as
    `Calibration.fit` gives it; the best line of a situation counts, and the level rises with the number of
    lines. NaN counts as no fit.
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
    intents: Mapping[int, float],
    paths: Iterable[TriggerPath],
    tendencies: Mapping[int, Sequence[Tendency]],
    draws: Mapping[int, float],
    params: ActionSelectionParams | None = None,
) -> list[SelectedAction]:
    """The selected actions, the greatest share first.

    present     attention by situation
    intents     attention by trigger, of an intent that names it
    draws       a number in 0..1 for each trigger, see `draw_number`

    A trigger receives the attention of its situations, each over its best path, times the geometric mean of
    the strengths of the two edges `triggers` and `fires`. One of its actions is drawn by probability and gets
    it all; shares of an action from several triggers are added.
    """
    p = params or ActionSelectionParams()
    arriving = _arriving(present, paths, tendencies)
    shares: dict[int, float] = {}
    causes: dict[int, tuple[float, int, TriggerPath | None]] = {}
    for trigger, choice in tendencies.items():
        scene = arriving.get(trigger, {})
        sources: list[tuple[float, TriggerPath | None]] = list(scene.values())
        scene_mass = sum(mass for mass, _ in sources)
        intent_mass = intents.get(trigger, 0.0) * _strength(1.0, choice)
        mass = max(scene_mass, intent_mass)
        if not choice or mass <= 0.0:
            continue
        action = draw_action([(t.action, t.probability) for t in choice], draws[trigger])
        if action is None:
            continue
        shares[action] = shares.get(action, 0.0) + mass
        best = max(sources, key=lambda pair: pair[0])[1] if scene_mass >= intent_mass else None
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
    paths: Iterable[TriggerPath],
    tendencies: Mapping[int, Sequence[Tendency]],
) -> dict[int, dict[int, tuple[float, TriggerPath]]]:
    """By trigger and situation: the attention that arrives, and the best path that it takes."""
    arriving: dict[int, dict[int, tuple[float, TriggerPath]]] = {}
    for path in paths:
        strength = _strength(path.strength, tendencies.get(path.trigger, ()))
        mass = present.get(path.seed, 0.0) * path.passes * strength
        by_situation = arriving.setdefault(path.trigger, {})
        if mass > by_situation.get(path.seed, (0.0, path))[0]:
            by_situation[path.seed] = mass, path
    return arriving


def draw_action(actions: Sequence[tuple[int, float]], number: float) -> int | None:
    """The action whose interval of cumulated probability contains `number` (0..1); None if all are 0."""
    whole = sum(probability for _, probability in actions)
    if whole <= 0.0:
        return None
    reached = 0.0
    for action, probability in actions:
        reached += probability / whole
        if number < reached:
            return action
    return next(action for action, probability in reversed(actions) if probability > 0.0)


def draw_number(*names: str) -> float:
    """A number in 0..1 (1 excluded), a hash of these names: the same on every machine and in every run."""
    digest = blake2b("\x1f".join(names).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2.0**53


def _strength(into: float, choice: Sequence[Tendency]) -> float:
    """Strength through a trigger, 0..1: mean over its actions, by probability, of sqrt(into * strength)."""
    whole = sum(t.probability for t in choice)
    if whole <= 0.0:
        return 0.0
    return sum(t.probability * sqrt(into * t.strength) for t in choice) / whole
