"""The settings of spreading activation reach the recall."""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.bootstrap import build_engine
from soulmem.config.load import load
from soulmem.config.setting_error import ConfigError
from soulmem.kernels.spread import SpreadParams


def test_they_reach_the_engine(tmp_path: Path) -> None:
    settings = {
        "START": 0.9,
        "THRESHOLD": 0.2,
        "TRANSMISSION": 0.25,
        "ROUNDS": 4,
        "DELTA": 0.01,
    }
    env = {f"SOULMEM_SPREADING_{name}": str(value) for name, value in settings.items()}
    engine = build_engine(
        load(env={"SOULMEM_DATA": str(tmp_path), "SOULMEM_EMBEDDER_MODEL": "none", **env})
    )
    spread = engine.params.ranking.expansion.spreading.spread
    assert spread == SpreadParams(0.9, 0.2, 0.25, 4, 0.01)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ROUNDS", "2"), ("THRESHOLD", "1.5"), ("TRANSMISSION", "-1"), ("DELTA", "0")],
)
def test_what_is_out_of_range_is_refused_with_the_range(
    tmp_path: Path, name: str, value: str
) -> None:
    env = {"SOULMEM_DATA": str(tmp_path), f"SOULMEM_SPREADING_{name}": value}
    with pytest.raises(ConfigError, match=f"spreading.{name.lower()} = .* outside"):
        load(env=env)
