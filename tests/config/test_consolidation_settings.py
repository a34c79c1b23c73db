"""The settings of consolidation reach the consolidator."""

from __future__ import annotations

from pathlib import Path

from soulmem.bootstrap import build_engine
from soulmem.config.load import load


def test_they_reach_the_engine(tmp_path: Path) -> None:
    settings = {
        "WINDOW_TURNS": 5,
        "MESSAGES": 30,
        "CALLS_PER_HOUR": 7,
        "TOKENS_PER_HOUR": 800,
    }
    env = {f"SOULMEM_CONSOLIDATION_{name}": str(value) for name, value in settings.items()}
    engine = build_engine(
        load(env={"SOULMEM_DATA": str(tmp_path), "SOULMEM_EMBEDDER_MODEL": "none", **env})
    )
    marks = engine.consolidator._params.marks
    assert (marks.turns, marks.least) == (5, 30)
    bounds = engine.consolidator.usage.params
    assert (bounds.calls, bounds.tokens, bounds.nodes, bounds.minutes) == (
        7,
        800,
        3000,
        30.0,
    )
