"""Which model does the archivist have, and does a key stay with its server?"""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.config import load
from soulmem.config.setting_error import ConfigError
from soulmem.config.settings import LlmEndpoint, LlmSettings

HERE = "http://127.0.0.1:5001/v1"


def test_there_is_none_by_default() -> None:
    settings = LlmSettings()
    assert settings.archivist is None


def test_one_model_is_enough() -> None:
    settings = LlmSettings(base_url=HERE + "/", model="qwen", api_key="key")
    assert settings.archivist == LlmEndpoint(HERE, "qwen", "key")


def test_memory_work_may_have_its_own() -> None:
    settings = LlmSettings(base_url=HERE, model="big", api_key="key", archivist_model="small")
    assert settings.archivist == LlmEndpoint(HERE, "small", "key")
    alone = LlmSettings(archivist_model="a/b", archivist_api_key="key")
    assert alone.archivist == LlmEndpoint("", "a/b", "key")


def test_a_key_is_not_sent_to_another_server() -> None:
    settings = LlmSettings(
        base_url=HERE,
        model="big",
        api_key="key",
        archivist_base_url="https://else.where/v1",
    )
    assert settings.archivist == LlmEndpoint("https://else.where/v1", "big", "")


def test_a_key_is_never_told() -> None:
    settings = LlmSettings(base_url=HERE, model="big", api_key="key-1", archivist_api_key="key-2")
    assert "key-" not in f"{settings!r} {settings.archivist!r} {settings}"
    assert "''" in repr(LlmEndpoint(HERE, "big", ""))


@pytest.mark.parametrize("key", ["base_url", "archivist_base_url"])
def test_an_address_has_a_scheme(key: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="like http") as raised:
        load(
            env={
                "SOULMEM_DATA": str(tmp_path),
                f"SOULMEM_LLM_{key.upper()}": "localhost:5001",
            }
        )
    assert raised.value.field == f"llm.{key}"
