"""Is a wrong address of the model hub told with its value and what to write?"""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.bootstrap import model_fetcher
from soulmem.config import load
from soulmem.config.setting_error import ConfigError


def test_a_wrong_address_is_told(tmp_path: Path) -> None:
    environment = {"SOULMEM_DATA": str(tmp_path), "SOULMEM_EMBEDDER_HUB": "mirror"}
    with pytest.raises(ConfigError, match=r"embedder\.hub = 'mirror'.*https://example") as raised:
        load(env=environment)
    assert raised.value.field == "embedder.hub"


def test_the_address_of_the_setting_is_used(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[embedder]\nhub = "https://a.example"\n')
    fetcher = model_fetcher(load(env={"SOULMEM_DATA": str(tmp_path)}))
    assert fetcher is not None
    assert fetcher.origin().hub == "https://a.example"
    for model in ("none", "fallback"):
        environment = {"SOULMEM_DATA": str(tmp_path), "SOULMEM_EMBEDDER_MODEL": model}
        assert model_fetcher(load(env=environment)) is None
