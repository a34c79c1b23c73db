"""Restraint, the dial: the least P of a memory that is recalled, and how well digests must fit for their cost."""

from __future__ import annotations

_STEEPNESS = 3.3  # log2(10): at 2 ten times the P of 1
_NEAR = 0.45  # 0..1, least score of a memory as a share of the best, at restraint 1
_MOST_NEAR = 0.95  # the same at restraint 2
# Share of the token budget below which what fits less may come as well: it costs next to nothing.
_CHEAP = 0.05


def least_probability(restraint: float, usual: float, generosity: float = 1.0) -> float:
    """P from which on a memory is recalled: 0 at restraint 0, and ten times as much at 2 as at 1.

    restraint   0 .. 2, or more in irritation
    usual       0..1, that P at restraint 1, see `decision_model.Decision.least`
    generosity  0..1, see `generosity`
    """
    return min(usual * float(restraint**_STEEPNESS), 0.9) * generosity


def nearness(restraint: float) -> float:
    """Least score as a share of the best one, 0..1; 0 at restraint 0."""
    if restraint <= 1.0:
        return _NEAR * restraint
    return _NEAR + (_MOST_NEAR - _NEAR) * min(restraint - 1.0, 1.0)


def least_share(nearness: float, spent: int, budget: int) -> float:
    """The share of the best score that the next memory must have, when with it `spent` of `budget` tokens go.

    Where the budget is far larger than the cost of what is taken, more may come.
    """
    return nearness * min(1.0, spent / max(_CHEAP * budget, 1.0))


def generosity(budget: int, usual_budget: int) -> float:
    """How far the least probability stands, 0..1: a request for far more tokens than the soul's budget searches,
    and gets more than what a reply calls for.
    """
    return min(1.0, usual_budget / max(budget, 1))
