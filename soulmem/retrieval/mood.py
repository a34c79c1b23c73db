"""The mood of a chat, from feelings in its last messages, and how well a memory fits it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from soulmem.language.feelings import feeling_of

Feeling = tuple[str, float]  # label and intensity 0..1
Mood = Mapping[str, float]  # feeling, as `feeling_of` names it, to its intensity 0..1

_IRRITATED = ("irritation", "anger")


@dataclass(frozen=True, slots=True)
class MoodParams:
    """Which messages make the mood."""

    messages: int = 6  # how many of the last messages count; design 4.1
    recency: float = 0.7  # 0..1, weight of a message relative to the one after it


def stated_mood(label: str, intensity: float) -> Mood:
    """The mood of one stated feeling."""
    return {feeling_of(label): min(max(intensity, 0.0), 1.0)}


def chat_mood(messages: Sequence[Iterable[Feeling]], params: MoodParams | None = None) -> Mood:
    """The mood of the last messages, oldest first: by feeling the mean intensity, weighted by recency.

    A message without feelings counts as intensity 0. Empty without messages.
    """
    p = params or MoodParams()
    last = messages[-p.messages :]
    total: defaultdict[str, float] = defaultdict(float)
    weights = [p.recency**age for age in reversed(range(len(last)))]
    for share, feelings in zip(weights, last, strict=True):
        for feeling, intensity in _strongest(feelings).items():
            total[feeling] += share * intensity
    return {feeling: amount / sum(weights) for feeling, amount in total.items() if amount > 0}


def strongest(mood: Mood) -> str | None:
    """The feeling of highest intensity; None without any."""
    return max(sorted(mood), key=lambda feeling: mood[feeling], default=None)


def mood_fit(mood: Mood, feelings: Iterable[Feeling]) -> float:
    """Fit of a memory, 0..1: greatest product of the intensities of a feeling in the mood and in the memory."""
    own = _strongest(feelings)
    return max(
        (mood[feeling] * own[feeling] for feeling in own if feeling in mood),
        default=0.0,
    )


def irritation(mood: Mood) -> float:
    """Irritation or anger of the mood, 0..1, whichever is stronger; it shortens the walk (see
    `edge_weights.restart_in`) and the answer (see `guidance.places`).
    """
    strength = max(mood.get(feeling, 0.0) for feeling in _IRRITATED)
    return min(max(strength, 0.0), 1.0)


def _strongest(feelings: Iterable[Feeling]) -> dict[str, float]:
    out: dict[str, float] = {}
    for label, intensity in feelings:
        feeling = feeling_of(label)
        out[feeling] = max(out.get(feeling, 0.0), min(max(intensity, 0.0), 1.0))
    return out
